#include "libgraphkit/analysis/launches/freed_fates.h"

#include <doctest/doctest.h>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/analysis/names/call_site.h"
#include "libgraphkit/random.h"
#include "tests/build_trace.h"

namespace graphkit {
namespace {

bool SameSite(const Ran& trace, StackId a, StackId b) {
  const auto one = CallSiteOf(trace, a).own, other = CallSiteOf(trace, b).own;
  return a == b || (one && other && trace.stack_frames[*one] == trace.stack_frames[*other]);
}

// A look at every block for each one that was freed.
FreedFate SlowFate(const Facts& facts, const FreedBlock& freed) {
  const Ran& trace = facts.trace;
  const Block& old = trace[freed.block];
  Seq since = 0;
  bool launched = false;
  for (const Launch& launch : trace.launches) {
    if (launch.seq >= old.free_requested) break;
    since = launch.seq;
    launched = true;
  }
  since = std::max(launched ? since : old.free_requested, old.allocated);
  FreedFate fate;
  size_t alike = 0;
  for (size_t i = 0; i < trace.blocks.size(); ++i) {
    const Block& other = trace.blocks[i];
    if (other.allocated >= freed.at) continue;
    const bool there = old.segment.valid() && other.segment == old.segment &&
                       other.address < old.address + old.size &&
                       old.address < other.address + other.size;
    const bool alive = other.free_requested >= freed.at && !facts.lives()[BlockId(i)].root.valid();
    fate.occupied = fate.occupied || (there && alive);
    fate.remade = fate.remade || (alive && other.address == old.address && other.size == old.size &&
                                  other.pool == old.pool && other.stream == old.stream &&
                                  SameSite(trace, other.stack, old.stack));
    if (other.allocated > std::max(old.free_requested, freed.written) && old.segment.valid() &&
        other.segment == old.segment && !other.graph.valid() &&
        other.address < old.address + old.size && old.address < other.address + other.size) {
      fate.handed_out = true;
    }
    if (other.allocated <= since || other.free_requested < freed.at ||
        facts.lives()[BlockId(i)].root.valid() || other.size != old.size ||
        other.pool != old.pool || other.stream != old.stream ||
        !SameSite(trace, other.stack, old.stack)) {
      continue;
    }
    ++alike;
    fate.replaced_by = BlockId(i);
  }
  if (alike != 1 || trace[fate.replaced_by].address == old.address) fate.replaced_by = {};
  return fate;
}

// Blocks that come and go in two segments, some of them in captures, and launches between.
Ran RandomBlocks(uint64_t seed, uint64_t steps) {
  Random random(seed);
  TraceBuilder t;
  const StreamId s = t.Stream("s");
  const PoolId pool = t.Pool(PoolKind::kPrivate, "pool");
  t.SetPool(pool);
  const SegmentId segments[2] = {t.Segment(pool, 64 * 512, s), t.Segment(pool, 64 * 512, s)};
  const StackId stacks[3] = {
      {}, t.Stack({{"load", "train.py", 3}}), t.Stack({{"step", "train.py", 9}})};
  t.BeginCapture(s);
  t.Kernel(s);
  t.EndCapture(s);
  const ExecId exec = t.Instantiate(GraphId(size_t{0}));
  std::vector<BlockId> live;
  bool capturing = false;
  for (uint64_t step = 0; step < steps; ++step) {
    switch (random.Below(8)) {
      case 0:
        if (!capturing) t.Launch(exec, s);
        break;
      case 1:
        if (capturing) {
          t.Kernel(s);
          t.EndCapture(s);
        } else {
          t.BeginCapture(s);
        }
        capturing = !capturing;
        break;
      case 2:
      case 3:
      case 4:
        if (!live.empty()) {
          std::swap(live[random.Below(live.size())], live.back());
          t.Free(live.back());
          live.pop_back();
        }
        break;
      default:
        t.SetStack(stacks[random.Below(3)]);
        const SegmentId segment = segments[random.Below(2)];
        live.push_back(t.AllocAt(s, 512 * (1 + random.Below(3)),
                                 t.trace()[segment].address + 512 * random.Below(60), segment));
    }
  }
  if (capturing) {
    t.Kernel(s);
    t.EndCapture(s);
  }
  return t.Build();
}

std::vector<FreedBlock> SomeFreed(const Ran& trace, Random* random) {
  std::vector<FreedBlock> freed;
  const Seq end = trace.blocks.empty() ? 0 : trace.blocks.back().allocated + 10;
  for (size_t i = 0; i < trace.blocks.size(); ++i) {
    const Seq from = trace.blocks[i].free_requested;
    if (from < end)
      freed.push_back({BlockId(i), from + 1 + static_cast<Seq>(random->Below(end - from)),
                       random->Below(4) == 0 ? static_cast<Seq>(random->Below(end)) : 0});
  }
  return freed;
}

TEST_CASE("what became of freed blocks is what a look at every block finds") {
  size_t handed_out = 0;
  size_t replaced = 0, occupied = 0, remade = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const Ran trace = RandomBlocks(seed, 120);
    const Facts facts(trace);
    const std::vector<FreedBlock> freed = SomeFreed(trace, &random);
    const std::vector<FreedFate> fates = FindFates(facts, freed);
    REQUIRE(fates.size() == freed.size());
    for (size_t i = 0; i < freed.size(); ++i) {
      CAPTURE(freed[i].block.value);
      REQUIRE(fates[i] == SlowFate(facts, freed[i]));
      handed_out += fates[i].handed_out ? 1 : 0;
      replaced += fates[i].replaced_by.valid() ? 1 : 0;
      occupied += fates[i].occupied ? 1 : 0;
      remade += fates[i].remade ? 1 : 0;
    }
  }
  CHECK(handed_out > 1000);
  CHECK(replaced > 200);
  CHECK(occupied > 500);
  CHECK(remade > 10);
}

// Work, not time.
TEST_CASE("each block is looked at a few times, however many were freed") {
  for (const uint64_t steps : {100u, 20'000u}) {
    const Ran trace = RandomBlocks(1, steps);
    const Facts facts(trace);
    Random random(1);
    uint64_t looks = 0;
    FindFates(facts, SomeFreed(trace, &random), &looks);
    CHECK(looks <= 8 * trace.blocks.size());
  }
}

}  // namespace
}  // namespace graphkit
