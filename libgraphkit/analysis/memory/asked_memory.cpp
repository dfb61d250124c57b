#include <algorithm>
#include <vector>

#include "libgraphkit/analysis/analyze.h"
#include "libgraphkit/analysis/memory/moments.h"

namespace graphkit {

AskedMemory FindAskedMemory(const Facts& facts) {
  const Trace& trace = facts.trace;
  const MemoryAt peak = FindMoments(trace).peak_reserved;
  const std::vector<bool> backs_segment = BacksSegment(trace);
  AskedMemory memory{.asked_bytes = peak.reserved};
  Bytes in_segments = peak.reserved;
  for (size_t i = 0; i < trace.blocks.size(); ++i) {
    const Block& block = trace.blocks[i];
    const bool alive = block.allocated <= peak.seq && peak.seq < block.free_completed;
    if (!alive || backs_segment[i]) continue;
    const Bytes size = AllocatedSize(block);
    if (block.segment) memory.segment_used_bytes += size;
    if (!FromDriver(trace, block)) continue;
    in_segments -= size;
    if (block.alloc_node.valid()) {
      memory.graph_node_bytes += size;
    } else if (!facts.lives.Touches(BlockId(i)).empty()) {
      memory.input_bytes += size;
    } else {
      memory.not_attributed_bytes += size;
    }
  }
  memory.segment_used_bytes = std::min(memory.segment_used_bytes, in_segments);
  memory.segment_free_bytes = in_segments - memory.segment_used_bytes;
  return memory;
}

}  // namespace graphkit
