#include "libgraphkit/replay/held_memory.h"

#include <algorithm>
#include <map>

#include "libgraphkit/analysis/memory/usage.h"

namespace graphkit {
namespace {

// Blocks of the pool that live at `now`, by segment.
std::map<SegmentId, std::vector<BlockId>> LivingAt(const Trace& trace, PoolId pool, Seq now) {
  std::map<SegmentId, std::vector<BlockId>> living;
  for (size_t i = 0; i < trace.blocks.size(); ++i) {
    const Block& block = trace.blocks[i];
    if (block.pool != pool || !block.segment.valid()) continue;
    if (block.allocated < now && block.free_completed > now)
      living[block.segment].push_back(BlockId(i));
  }
  return living;
}

// A rest that a large segment wouldn't have split off belongs to the block before it.
void AddHole(const CachingConfig& config, const MemoryHole& hole, bool behind_block,
             HeldMemory* held) {
  const bool kept = hole.small || !behind_block || hole.size > config.small_size;
  if (hole.size > 0 && kept) held->holes.push_back(hole);
}

void AddHoles(const Trace& trace, SegmentId id, std::vector<BlockId> living,
              const CachingConfig& config, HeldMemory* held) {
  const Segment& segment = trace[id];
  std::ranges::sort(living, {}, [&](BlockId block) { return trace[block].address; });
  MemoryHole hole{
      .offset = held->end, .owner = segment.stream, .small = segment.size <= config.small_segment};
  bool behind_block = false;
  for (const BlockId block : living) {
    const Bytes begin = held->end + (trace[block].address - segment.address);
    hole.size = begin - hole.offset;
    AddHole(config, hole, behind_block, held);
    hole.offset = begin + RoundedSize(trace[block]);
    behind_block = true;
  }
  hole.size = held->end + segment.size - hole.offset;
  AddHole(config, hole, behind_block, held);
}

}  // namespace

HeldMemory HeldBefore(const Trace& trace, GraphId graph, PoolId pool, const CachingConfig& config) {
  HeldMemory held;
  const auto capture = std::ranges::find(trace.captures, graph, &Capture::graph);
  if (!pool.valid() || capture == trace.captures.end()) return held;
  const Seq now = capture->begin;
  std::vector<SegmentId> segments;
  for (size_t i = 0; i < trace.segments.size(); ++i) {
    const Segment& segment = trace.segments[i];
    if (segment.pool == pool && segment.allocated < now && segment.freed > now)
      segments.emplace_back(i);
  }
  if (segments.empty()) return held;
  std::ranges::stable_sort(segments, {}, [&](SegmentId id) { return trace[id].allocated; });
  auto living = LivingAt(trace, pool, now);
  for (const SegmentId id : segments) {
    held.begins.emplace_back(id, held.end);
    AddHoles(trace, id, std::move(living[id]), config, &held);
    held.end += RoundUp(trace[id].size, kSegmentAlignment);
  }
  return held;
}

}  // namespace graphkit
