#include "libgraphkit/analysis/bound/lanes.h"

#include <algorithm>

namespace graphkit {
namespace {

// More lanes than this beside each other, and blocks are left out of the bound.
constexpr size_t kMaxLanesPerChain = 8;

}  // namespace

Lanes::Lanes(const BlockOrder& order, std::span<const BlockId> blocks) : order_(order) {
  items_.reserve(blocks.size());
  for (const BlockId block : blocks) {
    items_.push_back(MakeItem(block));
    if (Place(static_cast<uint32_t>(items_.size() - 1))) continue;
    left_out_bytes_ += items_.back().weight;
    items_.pop_back();
    ++left_out_;
  }
}

Lanes::Item Lanes::MakeItem(BlockId block) const {
  const BlockLife& life = order_.lives()[block];
  const std::span<const NodeId> markers = order_.lives().Markers(block, order_.rule());
  const bool by_streams = order_.lives().ByStreams(block, order_.rule());
  Item item;
  item.block = block;
  item.weight = RoundUp(order_.trace()[block].size, kBlockGranularity);
  item.alloc = life.alloc;
  item.dies = order_.Dies(block);
  item.nested = life.alloc.graph != life.root;
  item.plain = !item.nested && EarlyNodes(item).empty();
  if (item.nested || markers.empty()) return item;
  item.regular =
      item.dies && (!by_streams || EndCovers(markers, item.alloc)) &&
      std::ranges::all_of(markers, [&](NodeId marker) {
        const uint32_t chain = order_.order().PlaceOf(marker).chain;
        return chain < order_.order().chains() && order_.order().ChainGraph(chain) == life.root;
      });
  if (by_streams || markers.size() != 1) return item;
  const ChainPlace place = order_.order().PlaceOf(markers[0]);
  item.simple = order_.order().ChainGraph(place.chain) == life.root;
  item.chain = place.chain;
  item.seq = place.seq;
  return item;
}

// Whether what is after all of some nodes is after a point, too.
bool Lanes::EndCovers(std::span<const NodeId> nodes, const OrderPoint& point) const {
  return std::ranges::any_of(
      nodes, [&](NodeId node) { return order_.order().Covers(order_.order().EndOf(node), point); });
}

// Whether a point covers some place where the block may first be touched.
bool Lanes::Covered(const Item& block, const OrderPoint& point) const {
  const Order& order = order_.order();
  return order.Covers(point, block.alloc) ||
         std::ranges::any_of(EarlyNodes(block),
                             [&](NodeId node) { return order.Covers(point, order.StartOf(node)); });
}

// Whether whatever is before `earlier` is before `later`, too.
bool Lanes::Follows(const Item& later, const Item& earlier) const {
  if (later.alloc.graph != earlier.alloc.graph) return false;
  if (later.plain && earlier.plain) return order_.order().Covers(later.alloc, earlier.alloc);
  return Covered(earlier, later.alloc) && std::ranges::all_of(EarlyNodes(later), [&](NodeId node) {
           return Covered(earlier, order_.order().StartOf(node));
         });
}

uint32_t Lanes::FirstAfter(uint32_t index) const {
  const BlockId block = items_[index].block;
  if (!order_.lives().ByStreams(block, order_.rule())) return index + 1;
  const Seq freed = order_.trace()[block].free_requested;
  const auto after = std::partition_point(
      items_.begin() + index, items_.end(),
      [&](const Item& item) { return order_.trace()[item.block].allocated <= freed; });
  return static_cast<uint32_t>(after - items_.begin());
}

bool Lanes::Place(uint32_t index) {
  Item& item = items_[index];
  std::vector<uint32_t>& lanes = by_chain_[item.alloc.chain];
  for (const uint32_t lane : lanes) {
    if (!Follows(item, items_[lanes_[lane].births.back()])) continue;
    item.lane = lane;
    lanes_[lane].births.push_back(index);
    return true;
  }
  if (lanes.size() >= kMaxLanesPerChain) return false;
  item.lane = static_cast<uint32_t>(lanes_.size());
  lanes.push_back(item.lane);
  lanes_.push_back({item.alloc.chain, {index}});
  return true;
}

}  // namespace graphkit
