#include "libgraphkit/analysis/memory/memory_facts.h"

#include <algorithm>
#include <map>

#include <doctest/doctest.h>

#include "libgraphkit/analysis/memory/lifetimes.h"
#include "libgraphkit/random.h"
#include "tests/build_trace.h"
#include "tests/random.h"

namespace graphkit {
namespace {

constexpr Bytes kMiB = Bytes{1} << 20;

// record   segment  a  b  free a  c  (end)
// in use            4  8  4       5
struct Example {
  TraceBuilder t;
  BlockId a, b, c;
  SegmentId segment;
  Example() {
    const PoolId pool = t.Pool(PoolKind::kAllocator, "PyTorch");
    const StreamId stream = t.Stream();
    segment = t.Segment(pool, 20 * kMiB, stream);
    t.SetPool(pool);
    const Address at = t.trace()[segment].address;
    a = t.AllocAt(stream, 4 * kMiB, at, segment);
    b = t.AllocAt(stream, 4 * kMiB, at + 4 * kMiB, segment);
    t.Free(a, stream);
    c = t.AllocAt(stream, kMiB - 100, at + 10 * kMiB, segment);
    t.Segment(pool, 2 * kMiB, stream);
  }
};

TEST_CASE("peaks and the end have the record where they are") {
  Example example;
  const Ran trace = example.t.Build();
  const Seq b = trace[example.b].allocated;
  const MemoryMoments moments = MemoryFacts(trace).timeline().Of(0);
  CHECK(moments.peak_in_use == MemoryAt{.seq = b,
                                        .reserved = 20 * kMiB,
                                        .segments = 1,
                                        .in_use = 8 * kMiB,
                                        .allocated = 8 * kMiB,
                                        .requested = 8 * kMiB,
                                        .blocks = 2});
  CHECK(moments.end == MemoryAt{.seq = trace.records,
                                .reserved = 22 * kMiB,
                                .segments = 2,
                                .in_use = 5 * kMiB,
                                .allocated = 5 * kMiB,
                                .requested = 5 * kMiB - 100,
                                .blocks = 2});
  CHECK(moments.peak_reserved.reserved == 22 * kMiB);
  CHECK(MemoryFacts(trace).timeline().After(0, b) == moments.peak_in_use);
  CHECK(MemoryFacts(trace).timeline().InUse(0, b) == std::vector{example.a, example.b});
  CHECK(MemoryFacts(trace).timeline().InUse(0, trace.records) == std::vector{example.b, example.c});
}

TEST_CASE("idle memory is empty segments and the gaps of others") {
  Example example;
  const Ran trace = example.t.Build();
  CHECK(MemoryFacts(trace).timeline().IdleAfter(0, trace.records) ==
        IdleMemory{.empty_bytes = 2 * kMiB,
                   .empty_segments = 1,
                   .gap_bytes = 15 * kMiB,
                   .gaps = 3,
                   .largest_bytes = 9 * kMiB,
                   .private_bytes = 0});
}

TEST_CASE("memory of another device doesn't count") {
  Example example;
  const Ran trace = example.t.Build();
  const MemoryFacts facts(trace);
  CHECK(facts.timeline().After(1, trace.records) == MemoryAt{.seq = trace.records});
  CHECK(facts.timeline().devices() == std::vector<DeviceIndex>{0});
}

// The sums after each record, each on its own.
MemoryMoments SlowMoments(const Ran& trace) {
  MemoryMoments moments;
  for (Seq seq = 0; seq < trace.records; ++seq) {
    MemoryAt now{.seq = seq};
    for (const Segment& segment : trace.segments) {
      if (seq < segment.allocated) continue;
      now.reserved += segment.size;
      ++now.segments;
    }
    for (const Block& block : trace.blocks) {
      if (seq < block.allocated || seq >= block.free_completed) continue;
      const Bytes bytes = (block.size + 511) / 512 * 512 + block.slack;
      ++now.blocks;
      now.in_use += bytes;
      now.requested += block.size;
      if (seq < block.free_requested) now.allocated += bytes;
    }
    moments.peak_outside_graphs = std::max(moments.peak_outside_graphs, now.reserved);
    const auto keep = [&](MemoryAt& peak, Bytes MemoryAt::*kind) {
      if (now.*kind > peak.*kind) peak = now;
    };
    const bool same = now.reserved == moments.peak_reserved.reserved;
    if (same && now.in_use > moments.peak_reserved.in_use) moments.peak_reserved = now;
    keep(moments.peak_reserved, &MemoryAt::reserved);
    keep(moments.peak_in_use, &MemoryAt::in_use);
    keep(moments.peak_allocated, &MemoryAt::allocated);
    keep(moments.peak_requested, &MemoryAt::requested);
    moments.end = now;
    moments.end.seq = trace.records;
  }
  return moments;
}

TEST_CASE("in random runs moments are what the blocks that live then sum up to") {
  for (int round = 0; round < RandomRounds(50); ++round) {
    const uint64_t seed = RandomSeed() + static_cast<uint64_t>(round);
    CAPTURE(seed);
    Random random(seed);
    TraceBuilder t;
    const PoolId pool = t.Pool(PoolKind::kAllocator);
    const StreamId stream = t.Stream();
    const SegmentId segment = t.Segment(pool, 256 * 512, stream);
    t.SetPool(pool);
    std::vector<BlockId> alive;
    for (Address step = 0; step < 40; ++step) {
      if (alive.empty() || random.Below(3) > 0) {
        const Address at = t.trace()[segment].address + step * 4 * 512;
        alive.push_back(t.AllocAt(stream, 1 + random.Below(2000), at, segment));
      } else {
        const size_t which = random.Below(alive.size());
        t.RequestFree(alive[which], stream);
        if (random.Below(2) == 0) t.Segment(pool, 512, stream);
        if (random.Below(3) > 0) t.CompleteFree(alive[which]);
        alive.erase(alive.begin() + static_cast<ptrdiff_t>(which));
      }
    }
    Ran trace = t.Build();
    trace.blocks.ChangeAll([&](Block& block) {
      if (block.segment) block.slack = random.Below(3) * 512;
    });
    CHECK(MemoryFacts(trace).timeline().Of(0) == SlowMoments(trace));
  }
}

// Every byte of every segment looked at, one by one.
Bytes SlowIdle(const Ran& trace, Seq seq) {
  std::map<Address, bool> used;
  for (const Segment& segment : trace.segments) {
    for (Address at = segment.address; at < segment.address + segment.size; at += 512) {
      used[at] = false;
    }
  }
  for (const BlockId id : MemoryFacts(trace).timeline().InUse(0, seq)) {
    const Block& block = trace[id];
    for (Address at = block.address; at < block.address + block.size; at += 512) used[at] = true;
  }
  const auto idle = std::ranges::count_if(used, [](const auto& unit) { return !unit.second; });
  return static_cast<Bytes>(idle) * 512;
}

TEST_CASE("in random runs idle is what no block in use covers") {
  for (int round = 0; round < RandomRounds(50); ++round) {
    const uint64_t seed = RandomSeed() + static_cast<uint64_t>(round);
    CAPTURE(seed);
    Random random(seed);
    TraceBuilder t;
    const PoolId pool = t.Pool(PoolKind::kAllocator);
    const StreamId stream = t.Stream();
    t.SetPool(pool);
    std::vector<BlockId> alive;
    for (int s = 0; s < 3; ++s) {
      const SegmentId segment = t.Segment(pool, 64 * 512, stream);
      for (Address at = t.trace()[segment].address, end = at + 64 * 512; at < end;) {
        const Bytes size = std::min<Bytes>((1 + random.Below(8)) * 512, end - at);
        if (random.Below(2) == 0) alive.push_back(t.AllocAt(stream, size, at, segment));
        at += size;
      }
    }
    for (const BlockId id : alive) {
      if (random.Below(3) == 0) t.Free(id, stream);
    }
    const Ran trace = t.Build();
    const MemoryAt end = MemoryFacts(trace).timeline().Of(0).end;
    const IdleMemory idle = MemoryFacts(trace).timeline().IdleAfter(0, trace.records);
    CHECK(idle.bytes() == SlowIdle(trace, trace.records));
    CHECK(idle.bytes() == end.idle());
  }
}

}  // namespace
}  // namespace graphkit
