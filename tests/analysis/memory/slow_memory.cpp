#include <algorithm>
#include <map>
#include <utility>

#include "tests/analysis/slow_facts.h"

namespace graphkit {
namespace {

bool LiveAt(const Block& block, Seq seq) {
  return block.allocated <= seq && seq < block.free_requested;
}

bool DeferredAt(const Block& block, Seq seq) {
  return block.free_requested <= seq && seq < block.free_completed;
}

// The blocks that the driver gave for segments.
std::set<BlockId> BackingBlocks(const Ran& trace) {
  std::set<BlockId> backing;
  for (const Segment& segment : trace.segments) {
    if (segment.block.valid()) backing.insert(segment.block);
  }
  return backing;
}

// Bytes of addresses that some block covers.
Bytes Covered(const Ran& trace, const Blocks& blocks) {
  std::set<Address> cuts;
  for (const BlockId id : blocks) {
    cuts.insert(trace[id].address);
    cuts.insert(trace[id].address + RoundedSize(trace[id]));
  }
  Bytes covered = 0;
  for (auto cut = cuts.begin(); cut != cuts.end() && std::next(cut) != cuts.end(); ++cut) {
    if (std::ranges::any_of(blocks, [&](BlockId id) {
          return trace[id].address <= *cut && *cut < trace[id].address + RoundedSize(trace[id]);
        })) {
      covered += *std::next(cut) - *cut;
    }
  }
  return covered;
}

Bytes Extent(const Ran& trace, const Blocks& blocks) {
  std::map<SegmentId, Blocks> by_segment;
  for (const BlockId id : blocks) by_segment[trace[id].segment].push_back(id);
  Bytes extent = 0;
  for (const auto& [segment, of_segment] : by_segment) {
    if (!segment.valid()) {
      extent += Covered(trace, of_segment);
      continue;
    }
    Address lowest = ~Address{0};
    Address highest = 0;
    for (const BlockId id : of_segment) {
      lowest = std::min(lowest, trace[id].address);
      highest = std::max(highest, trace[id].address + RoundedSize(trace[id]));
    }
    extent += highest - lowest;
  }
  return extent;
}

bool HandedOut(const Block& block, const Ran& trace) {
  if (block.alloc_node.valid() || !block.pool.valid() || block.size == 0) return false;
  const PoolKind kind = trace[block.pool].kind;
  return kind == PoolKind::kAllocator || kind == PoolKind::kPrivate;
}

// The heaviest clique among `left`, each a block's index.
Bytes Heaviest(const std::vector<std::set<size_t>>& conflicts, const std::vector<Bytes>& weights,
               std::set<size_t> left) {
  if (left.empty()) return 0;
  const size_t first = *left.begin();
  left.erase(left.begin());
  std::set<size_t> beside;
  std::ranges::set_intersection(left, conflicts[first], std::inserter(beside, beside.end()));
  const Bytes with = weights[first] + Heaviest(conflicts, weights, beside);
  if (beside.size() == left.size()) return with;
  return std::max(with, Heaviest(conflicts, weights, left));
}

}  // namespace

std::vector<Blocks> SlowBlocks(const Ran& trace) {
  std::vector<Blocks> blocks(trace.graphs.size());
  const std::set<BlockId> backing = BackingBlocks(trace);
  for (size_t i = 0; i < trace.blocks.size(); ++i) {
    const GraphId graph = trace.blocks[i].graph;
    const NodeId alloc = trace.blocks[i].alloc_node;
    const bool there = !alloc.valid() || trace.graph_nodes.Has(alloc);
    if (graph.valid() && there && !backing.contains(BlockId(i)))
      blocks[RootOf(trace, graph).index()].emplace_back(i);
  }
  return blocks;
}

Usage SlowUsage(const Ran& trace, const Blocks& blocks) {
  Usage usage;
  for (const BlockId id : blocks) {
    ++usage.blocks;
    usage.total += RoundedSize(trace[id]);
    if (trace[id].freed()) continue;
    ++usage.never_freed_blocks;
    usage.never_freed += RoundedSize(trace[id]);
  }
  for (Seq seq = 0; seq < trace.records; ++seq) {
    Bytes live = 0;
    Bytes deferred = 0;
    for (const BlockId id : blocks) {
      if (LiveAt(trace[id], seq)) live += RoundedSize(trace[id]);
      if (DeferredAt(trace[id], seq)) deferred += RoundedSize(trace[id]);
    }
    if (live > usage.peak_live) usage.peak_at = seq;
    usage.peak_live = std::max(usage.peak_live, live);
    usage.deferred = std::max(usage.deferred, deferred);
    usage.peak_held = std::max(usage.peak_held, live + deferred);
  }
  usage.extent = Extent(trace, blocks);
  return usage;
}

std::vector<BlockOverlap> SlowOverlaps(const Ran& trace, const Blocks& blocks) {
  std::map<Address, BlockId> last;
  std::set<std::pair<BlockId, BlockId>> pairs;
  for (const BlockId block : blocks) {
    const Address begin = trace[block].address;
    if (trace[block].size == 0) continue;
    for (Bytes at = 0; at < RoundedSize(trace[block]); at += kBlockGranularity) {
      BlockId& owner = last[begin + at];
      if (owner.valid()) pairs.insert({owner, block});
      owner = block;
    }
  }
  std::vector<BlockOverlap> overlaps;
  for (const auto& [earlier, later] : pairs) overlaps.push_back({earlier, later});
  return overlaps;
}

// Each fresh block takes the best idle one: the smallest that will do, the latest of these.
ReuseFacts SlowReuse(const SlowBlockOrder& order, const Ran& trace, const Blocks& all,
                     const BlockOrder& assumes) {
  Blocks blocks;
  std::set<Bytes> sizes;
  for (const BlockId id : all) {
    if (!HandedOut(trace[id], trace)) continue;
    blocks.push_back(id);
    sizes.insert(RoundedSize(trace[id]));
  }
  std::set<BlockId> fresh(blocks.begin(), blocks.end());
  std::set<BlockId> idle;
  for (const BlockId id : blocks) {
    if (order.Dies(id)) idle.insert(id);
  }
  for (const BlockOverlap& overlap : SlowOverlaps(trace, blocks)) {
    fresh.erase(overlap.later);
    idle.erase(overlap.earlier);
  }
  ReuseFacts facts;
  for (const BlockId later : fresh) {
    // Four sizes are looked at.
    auto size_end = sizes.find(RoundedSize(trace[later]));
    for (int i = 0; i < 4 && size_end != sizes.end(); ++i) ++size_end;
    BlockId best;
    for (const BlockId earlier : idle) {
      const Bytes size = RoundedSize(trace[earlier]);
      if (earlier > later || size < RoundedSize(trace[later])) continue;
      if (size_end != sizes.end() && size >= *size_end) continue;
      if (!order.Before(earlier, later)) continue;
      if (!best.valid() || size <= RoundedSize(trace[best])) best = earlier;
    }
    if (!best.valid()) continue;
    idle.erase(best);
    facts.bytes += RoundedSize(trace[later]);
    facts.pairs.push_back({best, later, RoundedSize(trace[later]), assumes.Assumes(best)});
  }
  std::ranges::stable_sort(facts.pairs, std::ranges::greater(), &ReusePair::bytes);
  return facts;
}

Bytes SlowLowerBound(const SlowBlockOrder& order, const Ran& trace, const Blocks& blocks) {
  std::vector<std::set<size_t>> conflicts(blocks.size());
  std::vector<Bytes> weights;
  std::set<size_t> all;
  for (size_t x = 0; x < blocks.size(); ++x) {
    all.insert(x);
    weights.push_back(RoundedSize(trace[blocks[x]]));
    for (size_t y = 0; y < blocks.size(); ++y) {
      const bool ordered = order.Before(blocks[x], blocks[y]) || order.Before(blocks[y], blocks[x]);
      if (x != y && !ordered) conflicts[x].insert(y);
    }
  }
  return Heaviest(conflicts, weights, all);
}

AskedMemory SlowAskedMemory(const Ran& trace) {
  const std::set<BlockId> backing = BackingBlocks(trace);
  std::set<BlockId> touched;
  for (const NodeId id : trace.graph_nodes) {
    const Node& node = trace[id];
    if (node.kind == NodeKind::kMemAlloc || node.kind == NodeKind::kMemFree) {
      touched.insert(node.block);
    }
    for (uint32_t i = 0; i < node.accesses.count; ++i) {
      touched.insert(trace.accesses[node.accesses.first + i].block);
    }
  }
  AskedMemory most;
  Bytes most_in_use = 0;
  for (Seq seq = 0; seq < trace.records; ++seq) {
    AskedMemory now;
    Bytes in_use = 0, handed_out = 0, segments = 0;
    for (const Segment& segment : trace.segments) {
      const bool unbacked = !segment.block && segment.allocated <= seq && seq < segment.freed;
      if (unbacked) now.asked_bytes += segment.size;
      if (unbacked) segments += segment.size;
    }
    for (size_t i = 0; i < trace.blocks.size(); ++i) {
      const Block& block = trace.blocks[i];
      if (!LiveAt(block, seq) && !DeferredAt(block, seq)) continue;
      const Bytes size = RoundedSize(block) + block.slack;
      const PoolKind kind = block.pool.valid() ? trace[block.pool].kind : PoolKind::kDevice;
      const bool backs = backing.contains(BlockId(i));
      if (!backs && kind != PoolKind::kHost) in_use += size;
      if (block.segment.valid()) {
        handed_out += backs ? 0 : size;
        continue;
      }
      const bool asked =
          kind != PoolKind::kAllocator && kind != PoolKind::kPrivate && kind != PoolKind::kHost;
      if (!asked) continue;
      now.asked_bytes += size;
      if (backs) {
        segments += size;
      } else if (block.alloc_node.valid()) {
        now.graph_node_bytes += size;
      } else {
        (touched.contains(BlockId(i)) ? now.input_bytes : now.not_attributed_bytes) += size;
      }
    }
    now.segment_used_bytes = std::min(handed_out, segments);
    now.segment_free_bytes = segments - now.segment_used_bytes;
    if (std::pair(now.asked_bytes, in_use) <= std::pair(most.asked_bytes, most_in_use)) continue;
    most = now;
    most_in_use = in_use;
  }
  return most;
}

std::vector<std::set<BlockId>> SlowInputs(const Ran& trace) {
  std::vector<std::set<BlockId>> inputs(trace.graphs.size());
  for (const NodeId id : trace.graph_nodes) {
    const Node& node = trace[id];
    const GraphId root = RootOf(trace, node.graph);
    for (uint32_t i = 0; i < node.accesses.count; ++i) {
      const BlockId block = trace.accesses[node.accesses.first + i].block;
      const GraphId owner = trace[block].graph;
      if (owner.valid() && RootOf(trace, owner) == root) continue;
      inputs[root.index()].insert(block);
    }
  }
  return inputs;
}

}  // namespace graphkit
