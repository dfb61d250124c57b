#include "libgraphkit/alloc/policies/freed_by_order.h"

#include "libgraphkit/alloc/chunks/indexed_map.h"
#include "libgraphkit/analysis/memory/lanes.h"

namespace graphkit {
namespace {

bool Plain(const BlockOrder& order, GraphId graph, BlockId block) {
  const BlockLife& life = order.lives()[block];
  if (life.root != graph || life.alloc.graph != graph) return false;
  if (!order.lives().EarlyNodes(block, order.rule()).empty()) return false;
  const std::span<const NodeId> markers = order.lives().Markers(block, order.rule());
  return std::ranges::all_of(markers, [&](NodeId marker) {
    const uint32_t chain = order.order().PlaceOf(marker).chain;
    return chain != OrderPoint::kNoChain && order.order().ChainGraph(chain) == graph;
  });
}

}  // namespace

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

FreedByOrder::FreedByOrder(const BlockOrder& order, const MallocViews& views, bool shared)
    : order_(order),
      views_(views),
      shared_(shared),
      states_(views.count()),
      lists_(shared ? 1 : views.count()) {}

void FreedByOrder::Free(BlockId block) {
  if (!order_.Dies(block)) return;
  const std::span<const NodeId> markers = order_.lives().Markers(block, order_.rule());
  const bool counts = markers.empty() || order_.lives().ByStreams(block, order_.rule());
  lists_[shared_ ? 0 : views_.Of(block)].push_back(
      {block, counts && !ImpliesAlloc(markers, block)});
}

// True if who is after the markers is after the block's allocation in any case.
bool FreedByOrder::ImpliesAlloc(std::span<const NodeId> markers, BlockId block) const {
  const OrderPoint& alloc = order_.lives()[block].alloc;
  return std::ranges::any_of(markers, [&](NodeId marker) {
    return order_.order().Covers(order_.order().StartOf(marker), alloc);
  });
}

void FreedByOrder::BeforeMalloc(BlockId block, std::vector<BlockId>* found) {
  OrderedView& view = states_[views_.Of(block)];
  const std::vector<Freed>& list = lists_[shared_ ? 0 : views_.Of(block)];
  const OrderPoint& point = views_.PointOf(block);
  const bool stays = view.point == point || order_.order().Covers(view.point, point);
  view.MoveTo(order_.order(), stays ? view.point : point, list.size(), [&](uint32_t freed) {
    if (Found(list[freed], freed, &view)) found->push_back(list[freed].block);
  });
}

// True if the view is after the block; otherwise it waits, for the marker that was captured last of
// those that are missing.
bool FreedByOrder::Found(const Freed& freed, uint32_t number, OrderedView* view) const {
  const Order& order = order_.order();
  const auto reached = [&](const ChainPlace& place) {
    if (order.CountAt(view->point, place.chain) > place.seq) return true;
    view->waits.Wait(place, number);
    return false;
  };
  const auto markers = order_.lives().Markers(freed.block, order_.rule());
  for (auto marker = markers.rbegin(); marker != markers.rend(); ++marker) {
    if (!reached(order.PlaceOf(*marker))) return false;
  }
  const OrderPoint& alloc = order_.lives()[freed.block].alloc;
  if (!freed.alloc || order.Covers(view->point, alloc)) return true;
  const bool in_chain = alloc.chain != OrderPoint::kNoChain;
  if (in_chain && alloc.count != 0 && !reached({alloc.chain, alloc.count - 1})) return false;
  view->again.push_back(number);
  return false;
}

bool PlainBlocks(const BlockOrder& order, const GraphSlice& slice,
                 std::span<const BlockId> blocks) {
  const Ran& trace = order.trace();
  std::vector<BlockId> latest(slice.streams.size());
  for (const BlockId block : blocks) {
    const size_t stream = slice.streams.NumberOf(trace[block].stream.index());
    if (stream >= latest.size() || !Plain(order, slice.root, block)) return false;
    BlockId& before = latest[stream];
    const auto& lives = order.lives();
    if (before.valid() && !order.order().Covers(lives[block].alloc, lives[before].alloc)) {
      return false;
    }
    before = block;
  }
  return true;
}

}  // namespace graphkit
