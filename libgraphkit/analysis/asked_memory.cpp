#include "libgraphkit/analysis/asked_memory.h"

#include <algorithm>
#include <vector>

namespace graphkit {
namespace {

bool AsksDriver(const Trace& trace, const Block& block) {
  if (block.segment.valid()) return false;
  if (!block.pool.valid()) return true;
  const PoolKind kind = trace[block.pool].kind;
  return kind == PoolKind::kDevice || kind == PoolKind::kStream || kind == PoolKind::kGraph ||
         kind == PoolKind::kManaged;
}

// What is deferred can't be handed out: it is in use.
bool AliveAt(const Block& block, Seq seq) {
  return block.allocated <= seq && seq < block.free_completed;
}

// Where the sum of what was asked for is largest.
Seq FindPeak(const Trace& trace) {
  struct Change {
    Seq seq;
    int64_t bytes;
  };
  std::vector<Change> changes;
  for (const Block& block : trace.blocks) {
    if (!AsksDriver(trace, block)) continue;
    const auto bytes = static_cast<int64_t>(RoundedSize(block));
    changes.push_back({block.allocated, bytes});
    if (block.free_completed != kNever) changes.push_back({block.free_completed, -bytes});
  }
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) { return a.seq < b.seq; });
  int64_t now = 0;
  int64_t most = 0;
  Seq peak = 0;
  for (const Change& change : changes) {
    now += change.bytes;
    if (now <= most) continue;
    most = now;
    peak = change.seq;
  }
  return peak;
}

}  // namespace

AskedMemory FindAskedMemory(const Facts& facts) {
  const Trace& trace = facts.trace;
  const Seq peak = FindPeak(trace);
  const std::vector<bool> backs_segment = BacksSegment(trace);
  AskedMemory memory;
  Bytes in_segments = 0;
  for (size_t i = 0; i < trace.blocks.size(); ++i) {
    const Block& block = trace.blocks[i];
    if (!AliveAt(block, peak)) continue;
    const Bytes size = RoundedSize(block);
    const bool backed = block.segment.valid() && trace[block.segment].block.valid();
    if (backed) memory.segment_used_bytes += size;
    if (!AsksDriver(trace, block)) continue;
    memory.asked_bytes += size;
    if (block.alloc_node.valid()) {
      memory.graph_node_bytes += size;
    } else if (backs_segment[i]) {
      in_segments += size;
    } else if (!facts.lives.Touches(BlockId(i)).empty()) {
      memory.input_bytes += size;
    } else {
      memory.other_bytes += size;
    }
  }
  memory.segment_used_bytes = std::min(memory.segment_used_bytes, in_segments);
  memory.segment_free_bytes = in_segments - memory.segment_used_bytes;
  return memory;
}

}  // namespace graphkit
