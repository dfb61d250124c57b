#include "libgraphkit/compare/diff.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/build_trace.h"

namespace graphkit {
namespace {

constexpr Bytes kMiB = Bytes{1} << 20;

struct Held {
  uint32_t line = 0;  // 0: without a stack
  Bytes size = 0;
};

// Blocks of PyTorch's allocator, all in use at the end.
Ran RunOf(const std::vector<Held>& blocks, int16_t device = 0) {
  TraceBuilder t;
  const PoolId pool = t.Pool(PoolKind::kAllocator, "PyTorch");
  const StreamId stream = t.Stream();
  const SegmentId segment = t.Segment(pool, 1024 * kMiB, stream);
  Address next = t.trace()[segment].address;
  for (const Held& held : blocks) {
    t.SetStack(held.line == 0 ? StackId() : t.Stack({{"forward", "/app/model.py", held.line}}));
    t.AllocAt(stream, held.size, next, segment);
    next += held.size;
  }
  Ran trace = t.Build();
  trace.streams[stream.index()].device = device;
  return trace;
}

std::vector<MemoryDiff> DiffRuns(const Ran& before, const Ran& after, Told told = Told::kMost) {
  const auto from = AccountForMemory(MemoryFacts(before), told);
  const auto to = AccountForMemory(MemoryFacts(after), told);
  return DiffMemory({before, from}, {after, to});
}

FigureChange Figure(const MemoryDiff& diff, const std::string& name) {
  return *std::ranges::find(diff.figures, name, &FigureChange::figure);
}

TEST_CASE("runs of one program are equal, wherever its memory lay") {
  const auto diffs = DiffRuns(RunOf({{7, kMiB}, {9, 2 * kMiB}}), RunOf({{9, 2 * kMiB}, {7, kMiB}}));
  REQUIRE(diffs.size() == 1);
  CHECK(diffs[0].equal());
  CHECK(diffs[0].holders.size() == 2);
}

TEST_CASE("the largest change stands first, and what only one run has is there") {
  const MemoryDiff diff = DiffRuns(RunOf({{7, 8 * kMiB}, {9, 32 * kMiB}, {11, 2 * kMiB}}),
                                   RunOf({{7, 8 * kMiB}, {9, kMiB}, {13, 64 * kMiB}}))
                              .at(0);
  std::vector<std::pair<Bytes, Bytes>> bytes;
  for (const HolderChange& change : diff.holders) bytes.emplace_back(change.before, change.after);
  CHECK(bytes == std::vector<std::pair<Bytes, Bytes>>{
                     {2 * kMiB, 64 * kMiB}, {32 * kMiB, kMiB}, {8 * kMiB, 8 * kMiB}});
  CHECK(Figure(diff, "peak_in_use_bytes") ==
        FigureChange{"peak_in_use_bytes", 42 * kMiB, 73 * kMiB});
  CHECK_FALSE(diff.equal());
}

TEST_CASE("remarks that both have alike aren't listed") {
  const MemoryDiff diff = DiffRuns(RunOf({{7, 8 * kMiB}}), RunOf({{7, 16 * kMiB}})).at(0);
  REQUIRE(diff.remarks.size() == 1);
  CHECK(diff.remarks[0].kind == "idle");
  CHECK(diff.remarks[0].before == 1016 * kMiB);
  CHECK(diff.remarks[0].after == 1008 * kMiB);
}

TEST_CASE("ranks on devices of other numbers are compared") {
  const auto diffs = DiffRuns(RunOf({{7, kMiB}}, 0), RunOf({{7, kMiB}}, 3));
  REQUIRE(diffs.size() == 1);
  CHECK(diffs[0].equal());
}

TEST_CASE("holders by line and holders by pool aren't compared") {
  const MemoryDiff diff = DiffRuns(RunOf({{7, kMiB}}), RunOf({{0, 2 * kMiB}})).at(0);
  CHECK(diff.holders.empty());
  CHECK_FALSE(diff.equal());
}

TEST_CASE("what no history says is unknown") {
  const Ran run = RunOf({{7, kMiB}});
  Ran state = run;
  state.histories = {{.devices = 1}};
  const MemoryDiff diff = DiffRuns(run, state, Told::kEnd).at(0);
  CHECK(Figure(diff, "peak_in_use_bytes").after == std::nullopt);
  CHECK(Figure(diff, "in_use_at_end_bytes").after == kMiB);
}

TEST_CASE("memory of graphs alone is no history") {
  TraceBuilder t;
  const StreamId stream = t.Stream();
  t.BeginCapture(stream);
  t.Free(t.Alloc(stream, 4096), stream);
  t.EndCapture(stream);
  CHECK_FALSE(HoldsMemoryHistory(t.Build()));
  CHECK(HoldsMemoryHistory(RunOf({{0, 512}})));
}

}  // namespace
}  // namespace graphkit
