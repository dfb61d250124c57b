#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "libgraphkit/analysis/analyze.h"

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

bool IsBacked(const Trace& trace, const Block& block) {
  return block.segment.valid() && trace[block.segment].block.valid();
}

// What is in use of segments after each record; empty when nothing ever is.
std::vector<int64_t> UsedAfter(const Trace& trace) {
  std::vector<int64_t> used;
  for (const Block& block : trace.blocks) {
    if (!IsBacked(trace, block)) continue;
    used.resize(trace.records);
    const auto bytes = static_cast<int64_t>(RoundedSize(block));
    used[block.allocated] += bytes;
    if (block.free_completed != kNever) used[block.free_completed] -= bytes;
  }
  std::partial_sum(used.begin(), used.end(), used.begin());
  return used;
}

// Where the sum of what was asked for is largest; where it stays so for a while, where most of it
// is in use: segments that were there from the beginning are empty then.
Seq FindPeak(const Trace& trace) {
  LiveBytes asked;
  for (const Block& block : trace.blocks) {
    if (AsksDriver(trace, block)) asked.Add(block, block.free_completed);
  }
  const std::vector<LiveBytes::Change>& changes = asked.Sorted();
  std::vector<int64_t> now;
  for (const auto& change : changes) now.push_back((now.empty() ? 0 : now.back()) + change.bytes);
  const int64_t most = now.empty() ? 0 : *std::ranges::max_element(now);
  if (most <= 0) return 0;
  const std::vector<int64_t> used = UsedAfter(trace);
  Seq peak = kNever;
  for (size_t i = 0; i < changes.size(); ++i) {
    if (now[i] < most) continue;
    const Seq begin = changes[i].seq;
    if (peak == kNever) peak = begin;
    if (used.empty()) return peak;
    const Seq end = i + 1 < changes.size() ? changes[i + 1].seq : trace.records;
    for (Seq seq = begin; seq < end; ++seq) {
      if (used[seq] > used[peak]) peak = seq;
    }
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
    if (IsBacked(trace, block)) memory.segment_used_bytes += size;
    if (!AsksDriver(trace, block)) continue;
    memory.asked_bytes += size;
    if (block.alloc_node.valid()) {
      memory.graph_node_bytes += size;
    } else if (backs_segment[i]) {
      in_segments += size;
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
