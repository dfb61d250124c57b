#include "libgraphkit/model/segment_memory.h"

#include "libgraphkit/group_by.h"

namespace graphkit {

BlocksByAddress DriverBlocks(const Trace& trace) {
  BlocksByAddress blocks;
  for (const auto& [i, block] : Enumerate(trace.blocks)) {
    const bool driver = !block.segment && block.pool && trace[block.pool].kind == PoolKind::kDevice;
    if (driver) blocks.emplace(block.address, BlockId(i));
  }
  return blocks;
}

std::vector<BlockId> RunOfBlocks(const Trace& trace, const BlocksByAddress& blocks, BlockId first,
                                 Bytes size) {
  std::vector<BlockId> run = {first};
  for (Bytes found = trace[first].size; found < size; found += trace[run.back()].size) {
    const auto [begin, end] = blocks.equal_range(trace[first].address + found);
    const auto next = std::find_if(begin, end, [&](const auto& entry) {
      return trace[entry.second].allocated > trace[run.back()].allocated;
    });
    if (next == end) return {};
    run.push_back(next->second);
  }
  return run;
}

std::vector<SegmentId> SegmentsOfBlocks(const Trace& trace) {
  std::vector<SegmentId> segments(trace.blocks.size());
  BlocksByAddress blocks;
  for (const auto& [i, segment] : Enumerate(trace.segments)) {
    if (segment.block.index() >= segments.size()) continue;
    segments[segment.block.index()] = SegmentId(i);
    if (trace[segment.block].size >= segment.size) continue;
    if (blocks.empty()) blocks = DriverBlocks(trace);
    for (const BlockId piece : RunOfBlocks(trace, blocks, segment.block, segment.size)) {
      segments[piece.index()] = SegmentId(i);
    }
  }
  return segments;
}

}  // namespace graphkit
