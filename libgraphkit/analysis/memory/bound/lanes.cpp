#include "libgraphkit/analysis/memory/bound/lanes.h"

#include <algorithm>

namespace graphkit {
namespace {

// More lanes than this beside each other, and blocks are left out of the bound.
constexpr size_t kMaxLanesPerChain = 8;
constexpr uint32_t kMaxLanes = 1u << 26;
// With more lanes than this, births look for one that another chain's births are in.
constexpr size_t kManyLanes = 16;
constexpr size_t kRecentLanes = 4;

}  // namespace

Lanes::Lanes(const BlockOrder& order, std::span<const BlockId> blocks) : order_(order) {
  items_.reserve(blocks.size());
  for (const BlockId block : blocks) {
    items_.push_back(MakeItem(block));
    if (Place(static_cast<uint32_t>(items_.size() - 1))) {
      if (lanes_.size() == kManyLanes && !noted_) NoteDeaths(blocks);
      continue;
    }
    left_out_bytes_ += weight(static_cast<uint32_t>(items_.size() - 1));
    items_.pop_back();
    ++left_out_;
  }
  births_.Assign(items_.size(), lanes_.size(), [&](size_t item) { return items_[item].lane; });
}

Lanes::Item Lanes::MakeItem(BlockId block) const {
  const BlockLife& life = order_.lives()[block];
  const std::span<const NodeId> markers = order_.lives().Markers(block, order_.rule());
  const bool by_streams = order_.lives().ByStreams(block, order_.rule());
  Item item;
  item.block = block;
  item.dies = order_.Dies(block);
  item.by_streams = by_streams;
  item.nested = life.alloc.graph != life.root;
  item.plain = !item.nested && EarlyNodes(item).empty();
  if (item.nested || markers.empty()) return item;
  item.regular =
      item.dies && (!by_streams || EndCovers(markers, life.alloc)) &&
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

// True if everything after all of some nodes is after a point, too.
bool Lanes::EndCovers(std::span<const NodeId> nodes, const OrderPoint& point) const {
  return std::ranges::any_of(
      nodes, [&](NodeId node) { return order_.order().Covers(order_.order().EndOf(node), point); });
}

// True if a point covers some place where the block may first be touched.
bool Lanes::Covered(const Item& block, const OrderPoint& point) const {
  const Order& order = order_.order();
  return order.Covers(point, AllocOf(block)) ||
         std::ranges::any_of(EarlyNodes(block),
                             [&](NodeId node) { return order.Covers(point, order.StartOf(node)); });
}

// True if whatever is before `earlier` is before `later`, too.
bool Lanes::Follows(const Item& later, const Item& earlier) const {
  const OrderPoint &later_alloc = AllocOf(later), &earlier_alloc = AllocOf(earlier);
  if (later_alloc.graph != earlier_alloc.graph) return false;
  if (later.plain && earlier.plain) return order_.order().Covers(later_alloc, earlier_alloc);
  return Covered(earlier, later_alloc) && std::ranges::all_of(EarlyNodes(later), [&](NodeId node) {
           return Covered(earlier, order_.order().StartOf(node));
         });
}

uint32_t Lanes::FirstAfter(uint32_t index) const {
  if (!items_[index].by_streams) return index + 1;
  const Seq freed = order_.trace()[items_[index].block].free_requested;
  const auto after = std::partition_point(
      items_.begin() + index, items_.end(),
      [&](const Item& item) { return order_.trace()[item.block].allocated <= freed; });
  return static_cast<uint32_t>(after - items_.begin());
}

// Left alone if it counts where some block was allocated, not only where it died.
void Lanes::NoteDeaths(std::span<const BlockId> blocks) {
  noted_ = true;
  for (const BlockId block : blocks) {
    if (!order_.Dies(block)) continue;
    const std::span<const NodeId> markers = order_.lives().Markers(block, order_.rule());
    const bool by_streams = order_.lives().ByStreams(block, order_.rule());
    if (markers.empty() || (by_streams && !EndCovers(markers, order_.lives()[block].alloc))) return;
    for (const NodeId marker : markers) {
      const ChainPlace place = order_.order().PlaceOf(marker);
      deaths_[place.chain].push_back(place.seq);
    }
  }
  for (auto& [chain, places] : deaths_) std::ranges::sort(places);
  reduces_ = true;
}

// Moves the allocation point back to what its row knows of its own chain, if no block died between.
void Lanes::Reduce(const Item& item) {
  OrderPoint alloc = AllocOf(item);
  if (!item.plain || alloc.chain == OrderPoint::kNoChain) return;
  OrderPoint others = alloc;
  others.chain = OrderPoint::kNoChain;
  const uint32_t known = order_.order().CountAt(others, alloc.chain);
  if (const auto deaths = deaths_.find(alloc.chain); deaths != deaths_.end()) {
    const auto next = std::ranges::lower_bound(deaths->second, known);
    if (next != deaths->second.end() && *next < alloc.count) return;
  }
  if (alloc.count <= known) return;
  alloc.count = known;
  reduced_.insert_or_assign(item.block.value, alloc);
}

bool Lanes::PlaceIn(std::span<const uint32_t> lanes, uint32_t index) {
  Item& item = items_[index];
  for (const uint32_t lane : lanes) {
    if (!Follows(item, items_[lanes_[lane].last])) continue;
    item.lane = lane & (kMaxLanes - 1);
    lanes_[lane].last = index;
    return true;
  }
  return false;
}

// A block that is moved back leaves more births room behind it; but it can be moved back too far
// for its own chain's lane.
bool Lanes::PlaceReduced(std::span<const uint32_t> lanes, bool shared, uint32_t index) {
  Reduce(items_[index]);
  if (shared && PlaceIn(lanes, index)) return true;
  if (PlaceIn(recent_, index)) {
    lanes_[items_[index].lane].shared = true;
    return true;
  }
  return shared && reduced_.erase(items_[index].block.value) != 0 && PlaceIn(lanes, index);
}

bool Lanes::Place(uint32_t index) {
  Item& item = items_[index];
  const uint32_t chain = AllocOf(item).chain;
  std::vector<uint32_t>& lanes = by_chain_[chain];
  const bool shared =
      std::ranges::any_of(lanes, [&](uint32_t lane) { return lanes_[lane].shared; });
  if (!shared && PlaceIn(lanes, index)) return true;
  if (!reduces_ || !PlaceReduced(lanes, shared, index)) {
    if (lanes.size() >= kMaxLanesPerChain || lanes_.size() == kMaxLanes) return false;
    item.lane = lanes_.size() & (kMaxLanes - 1);
    lanes.push_back(item.lane);
    lanes_.push_back({chain, index});
  }
  if (!reduces_) return true;
  std::erase(recent_, item.lane);
  recent_.insert(recent_.begin(), item.lane);
  if (recent_.size() > kRecentLanes) recent_.pop_back();
  return true;
}

}  // namespace graphkit
