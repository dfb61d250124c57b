// Mallocs of a graph that see memory alike: what one of them may take, the next one of its view may
// take as well, as far as order says. A view is a stream that allocates. Of more streams than an
// index tells apart, where blocks go to any stream, it is a lane (analysis/memory/bound/lanes.h):
// streams that are forked at once and allocate before they free are one view, however many they
// are.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

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

}  // namespace graphkit
