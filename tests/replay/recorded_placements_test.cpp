#include "libgraphkit/replay/recorded.h"
#include "tests/read_ran.h"

#include <doctest/doctest.h>

#include <string>

namespace graphkit {
namespace {

Ran Read(const std::string& name) {
  Result<Ran> trace =
      ReadRan(std::string(GRAPHKIT_TESTDATA) + "/torch-traces/" + name + ".json.zst");
  REQUIRE_MESSAGE(trace.has_value(), Describe(trace.error()));
  return std::move(*trace);
}

RecordedPlacements Compared(const Ran& trace, PolicyKind policy) {
  const Facts facts(trace);
  return CompareWithRecorded(facts, ReplayTrace(facts, policy));
}

TEST_CASE("each block of a captured training step lies where PyTorch placed it") {
  CHECK(Compared(Read("gpt"), PolicyKind::kDefer) ==
        RecordedPlacements{.compared = 335, .same = 335});
}

// The program hands blocks to a side stream, and PyTorch deferred them: its default.
TEST_CASE("PyTorch's policies are told apart by what they did with record_stream") {
  const Ran trace = Read("planted_record_stream");
  CHECK(Compared(trace, PolicyKind::kDefer) == RecordedPlacements{.compared = 38, .same = 38});
  const RecordedPlacements pytorch = Compared(trace, PolicyKind::kPyTorch);
  CHECK(pytorch.same < pytorch.compared);
  CHECK(pytorch.first.valid());
}

TEST_CASE("one block elsewhere is found") {
  Ran trace = Read("gpt");
  BlockId moved;
  for (size_t i = 0; i < trace.blocks.size(); ++i) {
    if (trace.blocks[i].graph.valid() && trace.blocks[i].segment.valid()) moved = BlockId(i);
  }
  trace.blocks.Change(moved.index(), [](Block& block) { block.address += 512; });
  CHECK(Compared(trace, PolicyKind::kDefer) ==
        RecordedPlacements{.compared = 335, .same = 334, .first = moved});
}

TEST_CASE("graphs that go on in the pool of an earlier one find there what it left") {
  const RecordedPlacements found = Compared(Read("resnet"), PolicyKind::kDefer);
  CHECK(found == RecordedPlacements{.compared = 244, .same = 244});
}

}  // namespace
}  // namespace graphkit
