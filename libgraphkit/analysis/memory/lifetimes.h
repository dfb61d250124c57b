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
#include "libgraphkit/ran/ran.h"

namespace graphkit {

enum class MarkerRule : uint8_t {
  kAtFree,   // uses end at the free, on the allocation stream and the recorded streams
  kLastUse,  // uses end with the last node that touches the block
};

// Some nodes, mostly one or none: that lies in place, others in Lifetimes::nodes.
struct NodeList {
  static constexpr uint32_t kRun = 1u << 31;

  NodeId only;  // from kRun on: Lifetimes::runs[value - kRun]; none: the list is empty
  bool empty() const { return !only.valid(); }
  bool operator==(const NodeList&) const = default;
};

struct BlockLife {
  GraphId root;       // the user's graph that it lives in; none: outside graphs
  OrderPoint alloc;   // its allocation point
  NodeList starts;    // nodes that touch it and aren't after `alloc`, so many as `early` says; and
                      // what its stream ran next without being after `alloc`
  NodeList at_free;   // markers
  NodeList last_use;  // markers, those at the free among them when escaped; none: no node touches
                      // it, it dies at `alloc`
  uint32_t early : 27 = 0;
  bool freed : 1 = false;      // in its graph: by a memory-free node, or before the capture ended
  bool foreign : 1 = false;    // freed while one of its streams wasn't in the capture
  bool escaped : 1 = false;    // while it lived, a node ran that may touch anything: it dies at its
                               // free
  bool elsewhere : 1 = false;  // nodes of other graphs touch it
  bool leaves : 1 = false;     // nodes outside the (embedded) graph where it was allocated touch it
  bool operator==(const BlockLife&) const = default;
};

struct Lifetimes {
  std::vector<BlockLife> blocks;      // one for each block of the trace
  std::vector<bool> backs_segment;    // by block, as BacksSegment
  std::vector<uint32_t> first_touch;  // by block, and one more
  // Of each block, a node for each access, in capture order. A word of a structure counts only
  // where the node runs after the block's allocation and before its free (SureAccess).
  std::vector<NodeId> touches;
  std::vector<Slice> runs;  // of `nodes`
  std::vector<NodeId> nodes;

  const BlockLife& operator[](BlockId block) const { return blocks[block.index()]; }
  std::span<const NodeId> Touches(BlockId block) const {
    return {touches.data() + first_touch[block.index()],
            touches.data() + first_touch[block.index() + 1]};
  }
  // As long as the list stays where it is.
  std::span<const NodeId> Nodes(const NodeList& list) const {
    if (list.only.value < NodeList::kRun) return {&list.only, 1};
    if (list.empty()) return {};
    const Slice& run = runs[list.only.value - NodeList::kRun];
    return {nodes.data() + run.first, run.count};
  }
  // True if a block's uses are known by its streams alone: by kAtFree, and by either when escaped.
  bool ByStreams(BlockId block, MarkerRule rule) const {
    return rule == MarkerRule::kAtFree || (*this)[block].escaped;
  }
  // The nodes that may touch a block without being after its allocation point.
  std::span<const NodeId> EarlyNodes(BlockId block, MarkerRule rule) const {
    const BlockLife& life = (*this)[block];
    const std::span<const NodeId> starts = Nodes(life.starts);
    return ByStreams(block, rule) ? starts : starts.first(life.early);
  }
  std::span<const NodeId> Markers(BlockId block, MarkerRule rule) const {
    const BlockLife& life = (*this)[block];
    return Nodes(rule == MarkerRule::kAtFree ? life.at_free : life.last_use);
  }
};

// Calls visit(node, access) for each of a block's touches.
template <typename Visit>
void ForEachAccess(const Ran& trace, const Lifetimes& lives, BlockId block, Visit visit) {
  NodeId last;
  for (const NodeId node : lives.Touches(block)) {
    if (node == last) continue;  // another access of the same node
    last = node;
    for (const Access& access : trace.accesses.Of(trace[node].accesses)) {
      if (access.block == block) visit(node, access);
    }
  }
}

// What an access may touch of a block.
inline Interval<Address> AddressesOf(const Access& access, const Block& block) {
  const Interval<Bytes> bytes = BytesOf(access, block.size);
  return {block.address + bytes.begin, block.address + bytes.end};
}

// True for copies, and where a kernel's signature or an argument of a word, or an array of
// pointers, has the address. A word of another structure may be what lay on the host's stack.
bool SureAccess(const Ran& trace, KernelId kernel, const Access& access);
// True if a node has accesses to a block, and none of them is sure.
bool OnlyMayTouch(const Ran& trace, NodeId node, BlockId block);

// Blocks in the order in which they were allocated, or in which their frees were requested or
// completed: those of which it was recorded.
std::vector<uint32_t> BlocksBySeq(const Ran& trace, Seq Block::*seq);

// By block: whether it is the memory of a segment. Then what is handed out of it lives in graphs,
// and it itself is the allocator's.
std::vector<bool> BacksSegment(const Ran& trace);

// Adds the rows of the allocation points to `order`; what it says of nodes stays the same.
Lifetimes FindLifetimes(const Ran& trace, Order* order);

}  // namespace graphkit
