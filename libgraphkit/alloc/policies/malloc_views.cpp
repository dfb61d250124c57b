#include "libgraphkit/alloc/policies/malloc_views.h"

#include "libgraphkit/alloc/chunks/indexed_map.h"
#include "libgraphkit/analysis/memory/bound/lanes.h"

namespace graphkit {

MallocViews::MallocViews(const BlockOrder& order, const GraphSlice& slice,
                         std::span<const BlockId> blocks, bool any_stream)
    : order_(order), slice_(slice), views_(slice.blocks.size()) {
  FindStreams(blocks);
  if (any_stream && count_ > IndexedMap::kMaxViews) FindLanes(blocks);
}

void MallocViews::FindStreams(std::span<const BlockId> blocks) {
  constexpr uint32_t kNone = 0xffffffffu;
  std::vector<uint32_t> of_stream(slice_.streams.size(), kNone);
  for (const BlockId block : blocks) {
    uint32_t& view = of_stream[slice_.streams.NumberOf(order_.trace()[block].stream.index())];
    if (view == kNone) view = count_++;
    views_[Number(block)] = view;
  }
}

void MallocViews::FindLanes(std::span<const BlockId> blocks) {
  const Lanes lanes(order_, blocks);
  count_ = static_cast<uint32_t>(lanes.lanes());
  complete_ = lanes.left_out() == 0;
  points_.resize(views_.size());
  for (uint32_t item = 0; item < lanes.size(); ++item) {
    const size_t number = Number(lanes.block(item));
    views_[number] = lanes.lane(item);
    points_[number] = lanes.Alloc(item);
  }
}

}  // namespace graphkit
