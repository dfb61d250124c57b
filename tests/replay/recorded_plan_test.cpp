#include "libgraphkit/replay/recorded.h"
#include "tests/build_trace.h"
#include "tests/read_ran.h"

#include <doctest/doctest.h>

#include <string>

namespace graphkit {
namespace {

Ran TorchTrace(const std::string& name) {
  Result<Ran> trace =
      ReadRan(std::string(GRAPHKIT_TESTDATA) + "/torch-traces/" + name + ".json.zst");
  REQUIRE_MESSAGE(trace.has_value(), Describe(trace.error()));
  return std::move(*trace);
}

TEST_CASE("what PyTorch placed needs as many segments as its policy's replay, and is safe") {
  for (const char* name : {"gpt", "planted_record_stream"}) {
    const Ran trace = TorchTrace(name);
    const Facts facts(trace);
    const PolicyReplay recorded = ReplayRecorded(facts, {.verify = true});
    CHECK(recorded.verified);
    CHECK(recorded.figures.peak_reserved ==
          ReplayTrace(facts, PolicyKind::kDefer).figures.peak_reserved);
  }
}

TEST_CASE("gaps between segments are left out, and what lies in one segment keeps its distance") {
  const Ran trace = TorchTrace("gpt");
  const Facts facts(trace);
  std::vector<PlacedBlock> placements = ReplayRecorded(facts).graphs.at(0).pools.at(0).arena;
  REQUIRE(placements.size() == 335);
  for (const PlacedBlock& a : placements) {
    for (const PlacedBlock& b : placements) {
      const Block& first = trace[a.block];
      const Block& second = trace[b.block];
      if (first.address > second.address) continue;
      CHECK(a.offset <= b.offset);
      CHECK(b.offset - a.offset <= second.address - first.address);
      CHECK((a.offset + a.size <= b.offset) == (first.address + a.size <= second.address));
    }
  }
}

TEST_CASE("a block that was recorded on top of a live one is unsafe") {
  Ran trace = TorchTrace("gpt");
  const Facts before(trace);
  const PolicyReplay replay = ReplayTrace(before, PolicyKind::kReuse);
  std::vector<BlockId> kept;  // to the end of the capture
  for (const PlacedBlock& placed : replay.graphs.at(0).pools.at(0).arena) {
    if (!before.lives()[placed.block].freed) kept.push_back(placed.block);
  }
  REQUIRE(kept.size() > 1);
  trace.blocks.Change(kept[1].index(),
                      [&](Block& block) { block.address = trace[kept[0]].address; });
  const Facts facts(trace);
  CHECK_FALSE(ReplayRecorded(facts, {.verify = true}).verified);
}

TEST_CASE("recorded graphs that share a pool are compared") {
  for (const bool kept : {false, true}) {
    TraceBuilder t;
    const StreamId s = t.Stream();
    t.SetPool(t.Pool(PoolKind::kPrivate));
    BlockId output;
    for (int graph = 0; graph < 2; ++graph) {
      t.BeginCapture(s);
      if (graph == 1 && !kept) t.Free(output);
      output = t.AllocAt(s, 1024, Address{1} << 20);
      t.Kernel(s, "k", {Writes(output)});
      t.EndCapture(s);
    }
    const Ran trace = t.Build();
    const PolicyReplay replay = ReplayRecorded(Facts(trace), {.verify = true});
    CHECK(replay.verified == !kept);
    CHECK(replay.graphs.at(1).unsafe.size() == (kept ? 1 : 0));
    CHECK(replay.figures.lower_bound == (kept ? 2048 : 1024));
  }
}

}  // namespace
}  // namespace graphkit
