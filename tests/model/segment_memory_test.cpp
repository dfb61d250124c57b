#include "libgraphkit/model/trace.h"

#include <doctest/doctest.h>

#include "tests/build_trace.h"

namespace graphkit {
namespace {

struct Piece {
  Address address;
  Bytes size;
};

// Blocks of the driver, and then segments, the n-th of which begins with the block that is named.
Trace WithSegments(const std::vector<Piece>& blocks,
                   const std::vector<std::pair<uint32_t, Bytes>>& segments) {
  TraceBuilder t;
  const StreamId stream = t.Stream();
  const PoolId pool = t.Pool(PoolKind::kDevice);
  for (const Piece& block : blocks) t.AllocAt(stream, block.size, block.address);
  Trace trace = t.Record();
  for (size_t i = 0; i < trace.blocks.size(); ++i) {
    trace.blocks.Change(i, [&](Block& block) { block.pool = pool; });
  }
  for (const auto& [first, size] : segments) {
    trace.segments.push_back(
        {.address = blocks[first].address, .size = size, .pool = pool, .block = BlockId(first)});
    trace.segments.back().allocated = trace[BlockId(first)].allocated;
  }
  return trace;
}

std::vector<SegmentId> Owners(std::initializer_list<int> ids) {
  std::vector<SegmentId> owners;
  for (const int id : ids) owners.push_back(id < 0 ? SegmentId() : SegmentId(uint32_t(id)));
  return owners;
}

// segments   [        60         ]   [ 40 ]
// blocks     [ 20 ][ 20 ][ 20 ][20]  [ 40 ]
TEST_CASE("all pieces of a segment are its memory, and the block behind them isn't") {
  const Trace trace = WithSegments({{1000, 20}, {1020, 20}, {1040, 20}, {1060, 20}, {2000, 40}},
                                   {{0, 60}, {4, 40}});
  CHECK(SegmentsOfBlocks(trace) == Owners({0, 0, 0, -1, 1}));
}

TEST_CASE("pieces mapped again at the same addresses belong to the later segment") {
  const Trace trace = WithSegments({{1000, 20}, {1020, 20}, {1000, 20}, {1020, 20}}, {{2, 40}});
  CHECK(SegmentsOfBlocks(trace) == Owners({-1, -1, 0, 0}));
}

TEST_CASE("memory that is mapped at a segment's place while it lives belongs to it") {
  const Trace trace = WithSegments({{1000, 20}, {1020, 20}, {1100, 20}}, {{0, 60}});
  CHECK(SegmentsOfBlocks(trace) == Owners({0, 0, -1}));
}

}  // namespace
}  // namespace graphkit
