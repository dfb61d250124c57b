#include "libgraphkit/replay/recorded.h"

#include <set>

#include "libgraphkit/interval_map.h"
#include "libgraphkit/replay/graph_replayer.h"

namespace graphkit {
namespace {

// The segments of the graph and of those before it in its pools, and the bytes of what lies in
// none.
Bytes ReservedBytes(const Ran& trace, const GraphReplay& graph, std::set<SegmentId>* segments) {
  Bytes reserved = 0;
  for (const ReplayedPool& pool : graph.pools) {
    Bytes outside = 0;
    for (const PlacedBlock& placed : pool.arena) {
      const SegmentId segment = trace[placed.block].segment;
      if (!segment.valid()) {
        outside = std::max(outside, placed.offset + placed.size);
      } else {
        segments->insert(segment);
      }
    }
    reserved += RoundUp(outside, kPlanSegment);
  }
  for (const SegmentId segment : *segments) reserved += trace[segment].size;
  return reserved;
}

// Pools by their first block that was allocated outside of captures.
std::map<PoolId, Seq> UsedOutside(const Ran& trace) {
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
  // True if the block lies where the segment's first block says.
  bool Fits(SegmentId segment, Bytes within, Bytes size, Bytes placed) {
    const auto at = begins_.find(segment);
    if (at != begins_.end()) return placed == at->second + within;
    if (placed < within) return false;
    const Interval<Bytes> bytes{placed - within, placed - within + size};
    if (!taken_.Visit(bytes, [](const auto&) { return false; })) return false;
    begins_[segment] = bytes.begin;
    taken_.Add(bytes, segment);
    return true;
  }

 private:
  std::map<SegmentId, Bytes> begins_;
  IntervalMap<SegmentId> taken_;
};

void ComparePool(const Ran& trace, const ReplayedPool& pool, SegmentPlaces* places,
                 RecordedPlacements* found) {
  for (const PlacedBlock& placed : pool.segments) {
    const Block& block = trace[placed.block];
    if (!block.segment.valid()) {
      ++found->not_compared;
      continue;
    }
    ++found->compared;
    const Segment& segment = trace[block.segment];
    if (places->Fits(block.segment, block.address - segment.address, segment.size, placed.offset)) {
      ++found->same;
    } else if (!found->first.valid()) {
      found->first = placed.block;
    }
  }
}

// Blocks of one pool, with their offsets set: addresses where no block ever lay are left out.
std::vector<PlacedBlock> RecordedPlacement(const Facts& facts, std::vector<PlacedBlock> blocks) {
  std::vector<uint32_t> by_address(blocks.size());
  std::iota(by_address.begin(), by_address.end(), 0u);
  std::ranges::stable_sort(by_address, {},
                           [&](uint32_t i) { return facts.trace[blocks[i].block].address; });
  uint64_t end = 0;  // of the addresses so far
  Bytes top = 0;     // and the offset that it has
  for (const uint32_t i : by_address) {
    const uint64_t address = facts.trace[blocks[i].block].address;
    if (address > end) end = address;
    blocks[i].offset = top - (end - address);
    if (address + blocks[i].size > end) {
      top += address + blocks[i].size - end;
      end = address + blocks[i].size;
    }
  }
  return blocks;
}

// Of all graphs, by block: where it lies among the blocks of its pool, in all graphs that share it.
std::vector<Bytes> RecordedOffsets(const Facts& facts, const std::vector<PoolSharers>& sharers) {
  std::vector<Bytes> offsets(facts.trace.blocks.size());
  for (const PoolSharers& one : sharers) {
    std::map<PoolId, std::vector<PlacedBlock>> pools;
    for (const GraphId graph : one.graphs) {
      for (const PoolBlocks& pool : BlocksByPool(facts, graph)) {
        for (const BlockId block : pool.blocks)
          pools[pool.pool].push_back({.block = block, .size = RoundedSize(facts.trace[block])});
      }
    }
    for (auto& [pool, blocks] : pools) {
      for (const PlacedBlock& placed : RecordedPlacement(facts, std::move(blocks)))
        offsets[placed.block.index()] = placed.offset;
    }
  }
  return offsets;
}

}  // namespace

PolicyReplay ReplayRecorded(const Facts& facts, const ReplayOptions& options) {
  const std::vector<PoolSharers> sharers = FindPoolSharers(facts);
  PolicyReplay replay =
      ReplayOffsets(facts, RecordedOffsets(facts, sharers), options, kRecordedName, sharers);
  const std::vector<GraphReplay*> by_graph = ByGraph(facts, &replay);
  for (const PoolSharers& one : sharers) {
    std::set<SegmentId> segments;
    for (const GraphId id : one.graphs) {
      GraphReplay* const graph = by_graph[id.index()];
      if (graph == nullptr) continue;
      graph->figures.peak_reserved = ReservedBytes(facts.trace, *graph, &segments);
    }
  }
  SumUpGraphs(facts, sharers, &replay);
  if (options.verify) VerifyArenas(facts, sharers, MarkerRule::kLastUse, &replay);
  return replay;
}

RecordedPlacements CompareWithRecorded(const Facts& facts, const PolicyReplay& replay) {
  const std::map<PoolId, Seq> used_outside = UsedOutside(facts.trace);
  std::vector<const GraphReplay*> by_graph(facts.blocks().size());
  for (const GraphReplay& graph : replay.graphs) by_graph[graph.graph.index()] = &graph;
  RecordedPlacements found;
  for (const PoolSharers& sharers : FindPoolSharers(facts)) {
    std::map<PoolId, SegmentPlaces> places;
    for (const GraphId graph : sharers.graphs) {
      if (by_graph[graph.index()] == nullptr) continue;
      for (const ReplayedPool& pool : by_graph[graph.index()]->pools) {
        if (pool.segments.empty()) continue;
        const auto used = used_outside.find(pool.pool);
        const Block& first = facts.trace[pool.segments.front().block];
        if (used != used_outside.end() && used->second < first.allocated) {
          found.not_compared += pool.segments.size();
        } else {
          ComparePool(facts.trace, pool, &places[pool.pool], &found);
        }
      }
    }
  }
  return found;
}

}  // namespace graphkit
