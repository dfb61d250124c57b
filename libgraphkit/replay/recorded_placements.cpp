#include "libgraphkit/replay/recorded_placements.h"

#include <algorithm>
#include <map>

#include "libgraphkit/replay/held_memory.h"

namespace graphkit {
namespace {

// Pools by their first block that was allocated outside of captures.
std::map<PoolId, Seq> UsedOutside(const Trace& trace) {
  std::map<PoolId, Seq> used;
  for (const Block& block : trace.blocks) {
    if (!block.segment.valid() || block.graph.valid()) continue;
    const auto [at, first] = used.try_emplace(block.pool, block.allocated);
    if (!first) at->second = std::min(at->second, block.allocated);
  }
  return used;
}

// Where the segments of one pool lie among a policy's.
class SegmentPlaces {
 public:
  SegmentPlaces(const Trace& trace, const HeldMemory& held) {
    for (const auto& [segment, begin] : held.begins) {
      begins_[segment] = begin;
      sizes_[begin] = trace[segment].size;
    }
  }

  // True if the block lies where the segment's first block says.
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

void ComparePool(const Trace& trace, const PoolHistory& history, GraphId graph,
                 const ReplayedPool& pool, RecordedPlacements* found) {
  SegmentPlaces places(trace, history.Before(graph, pool.pool, {}));
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
  const PoolHistory history(facts.trace, facts.blocks());
  const std::map<PoolId, Seq> used_outside = UsedOutside(facts.trace);
  RecordedPlacements found;
  for (const GraphReplay& graph : replay.graphs) {
    for (const ReplayedPool& pool : graph.pools) {
      if (pool.segments.empty()) continue;
      const auto used = used_outside.find(pool.pool);
      const Block& first = facts.trace[pool.segments.front().block];
      if (used != used_outside.end() && used->second < first.allocated) {
        found.not_compared += pool.segments.size();
      } else {
        ComparePool(facts.trace, history, graph.graph, pool, &found);
      }
    }
  }
  return found;
}

}  // namespace graphkit
