#include "libgraphkit/render/report/memory_bands.h"

#include <algorithm>
#include <tuple>

#include "libgraphkit/analysis/usage.h"

namespace graphkit {

namespace {

struct Range {
  SegmentId segment;
  PoolId pool;
  Address begin = 0;
  Address end = 0;
  Bytes offset = 0;
};

bool InSegment(const Trace& trace, const Block& block) {
  return block.segment.index() < trace.segments.size();
}

// Blocks by segment and address; those outside segments last.
std::vector<size_t> ByAddress(const Trace& trace, std::span<const BlockId> blocks) {
  std::vector<size_t> sorted(blocks.size());
  for (size_t i = 0; i < sorted.size(); ++i) sorted[i] = i;
  std::ranges::sort(sorted, {}, [&](size_t i) {
    const Block& block = trace[blocks[i]];
    const SegmentId segment = InSegment(trace, block) ? block.segment : SegmentId();
    return std::tuple(segment.value, block.address, i);
  });
  return sorted;
}

void Extend(const Trace& trace, const Block& block, std::vector<Range>& ranges) {
  const Address end = block.address + RoundedSize(block);
  const SegmentId segment = InSegment(trace, block) ? block.segment : SegmentId();
  const bool same = !ranges.empty() && ranges.back().segment == segment &&
                    (segment || (ranges.back().end >= block.address));
  if (!same) ranges.push_back({segment, block.pool, block.address, end});
  ranges.back().end = std::max(ranges.back().end, end);
}

}  // namespace

CompactMemory CompactAddresses(const Trace& trace, std::span<const BlockId> blocks) {
  std::vector<Range> ranges;
  std::vector<uint32_t> range_of(blocks.size());
  for (const size_t i : ByAddress(trace, blocks)) {
    Extend(trace, trace[blocks[i]], ranges);
    range_of[i] = static_cast<uint32_t>(ranges.size() - 1);
  }
  std::vector<uint32_t> order(ranges.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint32_t>(i);
  std::ranges::sort(order, {},
                    [&](uint32_t i) { return std::tuple(ranges[i].pool, ranges[i].begin); });
  CompactMemory memory;
  for (const uint32_t i : order) {
    Range& range = ranges[i];
    range.offset = memory.extent;
    memory.bands.push_back({range.pool, range.segment, memory.extent, range.end - range.begin});
    memory.extent += range.end - range.begin;
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    const Range& range = ranges[range_of[i]];
    memory.offsets.push_back(range.offset + trace[blocks[i]].address - range.begin);
  }
  return memory;
}

}  // namespace graphkit
