// Mallocs of a graph that see memory alike: what one of them may take, the next one of its view may
// take as well, as far as order says. A view is a stream that allocates. Of more streams than an
// index tells apart, where blocks go to any stream, it is a lane (analysis/memory/lanes.h):
// streams that are forked at once and allocate before they free are one view, however many.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libgraphkit/alloc/chunks/chain_waits.h"
#include "libgraphkit/analysis/memory/block_order.h"
#include "libgraphkit/analysis/order/slice.h"

namespace graphkit {

class MallocViews {
 public:
  // `blocks` of the graph, in capture order, each with a stream; of lanes, plain ones (PlainBlocks,
  // freed_by_order.h). Order and slice must outlive it.
  MallocViews(const BlockOrder& order, const GraphSlice& slice, std::span<const BlockId> blocks,
              bool any_stream);

  // True if each block has a view.
  bool complete() const { return complete_; }
  uint32_t count() const { return count_; }
  uint32_t Of(BlockId block) const { return views_[Number(block)]; }
  // All that is before the block's malloc is before this point. A view's points never go back.
  const OrderPoint& PointOf(BlockId block) const {
    return points_.empty() ? order_.lives()[block].alloc : points_[Number(block)];
  }

 private:
  size_t Number(BlockId block) const { return slice_.blocks.NumberOf(block.index()); }
  void FindStreams(std::span<const BlockId> blocks);
  void FindLanes(std::span<const BlockId> blocks);

  BlockOrder order_;
  const GraphSlice& slice_;
  bool complete_ = true;
  uint32_t count_ = 0;
  std::vector<uint32_t> views_;     // by block of the graph
  std::vector<OrderPoint> points_;  // the same; empty: where the blocks are allocated
};

// The freed blocks that a view's next malloc may take, as order proves it: each block is found once
// for each view, by the first malloc of the view that comes after all its markers, without looking
// at those that still wait.
//
// A malloc is after a count of each chain's nodes, and a view's mallocs never go back: what one of
// them is after, the next one is after as well. So a block waits for one marker at a time, in heaps
// that each view has for itself.

// For a graph all of whose blocks are plain (PlainBlocks). Order and views must outlive it.
class FreedByOrder {
 public:
  // `shared`: every view gets to know every block; otherwise its own ones only.
  FreedByOrder(const BlockOrder& order, const MallocViews& views, bool shared);

  // The block's free is requested.
  void Free(BlockId block);
  // Adds to `found` what this malloc is the first of its view to be after.
  void BeforeMalloc(BlockId block, std::vector<BlockId>* found);

 private:
  // A freed block, and the condition for a block that takes its memory.
  struct Freed {
    BlockId block;
    bool alloc = false;  // its allocation beside its markers
  };
  bool ImpliesAlloc(std::span<const NodeId> markers, BlockId block) const;
  bool Found(const Freed& freed, uint32_t number, OrderedView* view) const;

  const BlockOrder& order_;
  const MallocViews& views_;
  bool shared_;
  std::vector<OrderedView> states_;        // by view: what its mallocs so far are after
  std::vector<std::vector<Freed>> lists_;  // the same; shared: [0] is for all
};

// True if of these blocks of one graph it is known when they may be taken from the place of a
// malloc in its stream alone: no block is touched before its allocation is ordered before, none
// lives in a conditional's body or a child graph, each has a stream, and no stream's mallocs go
// back.
bool PlainBlocks(const BlockOrder& order, const GraphSlice& slice, std::span<const BlockId> blocks);

}  // namespace graphkit
