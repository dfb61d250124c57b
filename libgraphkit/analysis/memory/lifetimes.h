// A block's life in a graph: where it begins, and which nodes must be complete before its memory
// may be used again (its markers).
//
//     stream a:  malloc x ── k0 ── k1 ─────── free x        alloc point: a's frontier at malloc
//     stream b:                └── k2 ── k3                 touched by k1, k2
//
//     markers at last use: k1, k2 (the last nodes that touch x)
//     markers at free:     k1, and k3 if x was recorded on b (the frontiers at the free)
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libgraphkit/analysis/order/order.h"
#include "libgraphkit/interval.h"
#include "libgraphkit/model/trace.h"

namespace graphkit {

enum class MarkerRule : uint8_t {
  kAtFree,   // uses end at the free, on the allocation stream and the recorded streams
  kLastUse,  // uses end with the last node that touches the block
};

// A node touches a block.
struct Touch {
  NodeId node;
  uint32_t access = 0;  // in Trace::accesses
  bool operator==(const Touch&) const = default;
};

struct BlockLife {
  GraphId root;          // the user's graph that it lives in; none: outside graphs
  OrderPoint alloc;      // its allocation point
  Slice touches;         // in Lifetimes::touches, in capture order
  Slice early;           // in Lifetimes::nodes: nodes that touch it and aren't after `alloc`
  Slice unordered;       // behind `early`: what its stream ran next without being after `alloc`
  Slice at_free;         // in Lifetimes::nodes: markers
  Slice last_use;        // in Lifetimes::nodes: markers, those at the free among them when escaped;
                         // none: no node touches it, it dies at `alloc`
  bool freed = false;    // in its graph: by a memory-free node, or before the capture ended
  bool foreign = false;  // freed while one of its streams wasn't in the capture
  bool escaped = false;  // while it lived, a node ran that may touch anything: it dies at its free
  bool elsewhere = false;  // nodes of other graphs touch it
  bool leaves = false;     // nodes outside the (embedded) graph where it was allocated touch it
  bool operator==(const BlockLife&) const = default;
};

struct Lifetimes {
  std::vector<BlockLife> blocks;  // one for each block of the trace
  std::vector<Touch> touches;
  std::vector<NodeId> nodes;

  const BlockLife& operator[](BlockId block) const { return blocks[block.index()]; }
  std::span<const Touch> Touches(BlockId block) const {
    const Slice slice = (*this)[block].touches;
    return {touches.data() + slice.first, slice.count};
  }
  std::span<const NodeId> Nodes(Slice slice) const {
    return {nodes.data() + slice.first, slice.count};
  }
  // Whether a block's uses are known by its streams alone: by kAtFree, and by either when escaped.
  bool ByStreams(BlockId block, MarkerRule rule) const {
    return rule == MarkerRule::kAtFree || (*this)[block].escaped;
  }
  // The nodes that may touch a block without being after its allocation point.
  std::span<const NodeId> EarlyNodes(BlockId block, MarkerRule rule) const {
    const BlockLife& life = (*this)[block];
    const uint32_t unordered = ByStreams(block, rule) ? life.unordered.count : 0;
    return Nodes({life.early.first, life.early.count + unordered});
  }
  std::span<const NodeId> Markers(BlockId block, MarkerRule rule) const {
    const BlockLife& life = (*this)[block];
    return Nodes(rule == MarkerRule::kAtFree ? life.at_free : life.last_use);
  }
};

// Blocks in the order in which they were allocated, or in which their frees were requested or
// completed: those of which it was recorded.
std::vector<uint32_t> BlocksBySeq(const Trace& trace, Seq Block::*seq);

// By block: whether it is the memory of a segment. Then what is handed out of it lives in graphs,
// and it itself is the allocator's.
std::vector<bool> BacksSegment(const Trace& trace);

// Adds the rows of the allocation points to `order`; what it says of nodes stays the same.
Lifetimes FindLifetimes(const Trace& trace, Order* order);

}  // namespace graphkit
