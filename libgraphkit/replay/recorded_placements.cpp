#include "libgraphkit/replay/recorded_placements.h"

#include <map>
#include <optional>
#include <vector>

namespace graphkit {
namespace {

// When a pool's first block was allocated, by pool.
std::vector<Seq> FirstUses(const Trace& trace) {
  std::vector<Seq> first(trace.pools.size(), kNever);
  for (const Block& block : trace.blocks) {
    if (!block.pool.valid() || !block.segment.valid()) continue;
    first[block.pool.index()] = std::min(first[block.pool.index()], block.allocated);
  }
  return first;
}

// Where the segments of one pool lie among a policy's.
class SegmentPlaces {
 public:
  // Whether the block lies where the segment's first block says.
  bool Fits(SegmentId segment, Bytes within, Bytes size, Bytes placed) {
    const auto at = begins_.find(segment);
    if (at != begins_.end()) return placed == at->second + within;
    if (placed < within) return false;
    const Bytes begin = placed - within;
    for (const auto& [other, taken] : sizes_) {
      if (begin < other + taken && other < begin + size) return false;
    }
    begins_[segment] = begin;
    sizes_[begin] = size;
    return true;
  }

 private:
  std::map<SegmentId, Bytes> begins_;
  std::map<Bytes, Bytes> sizes_;  // by begin
};

void ComparePool(const Trace& trace, const ReplayedPool& pool, RecordedPlacements* found) {
  SegmentPlaces places;
  for (const PlacedBlock& placed : pool.segments) {
    const Block& block = trace[placed.block];
    if (!block.segment.valid()) {
      ++found->not_compared;
      continue;
    }
    ++found->compared;
    const Segment& segment = trace[block.segment];
    if (places.Fits(block.segment, block.address - segment.address, segment.size, placed.offset)) {
      ++found->same;
    } else if (!found->first.valid()) {
      found->first = placed.block;
    }
  }
}

}  // namespace

RecordedPlacements CompareWithRecorded(const Facts& facts, const PolicyReplay& replay) {
  const Trace& trace = facts.trace;
  const std::vector<Seq> first_use = FirstUses(trace);
  RecordedPlacements found;
  for (const GraphReplay& graph : replay.graphs) {
    for (const ReplayedPool& pool : graph.pools) {
      if (pool.segments.empty()) continue;
      const Block& first = trace[pool.segments.front().block];
      const bool fresh = pool.pool.valid() && first_use[pool.pool.index()] == first.allocated;
      if (fresh) {
        ComparePool(trace, pool, &found);
      } else {
        found.not_compared += pool.segments.size();
      }
    }
  }
  return found;
}

}  // namespace graphkit
