#include "libgraphkit/analysis/memory/lanes.h"

#include <algorithm>

namespace graphkit {
namespace {

// More lanes than this beside each other, and blocks are left out of the bound.
constexpr size_t kMaxLanesPerChain = 8;
constexpr uint32_t kMaxLanes = 1u << 26;
// With more lanes than this, births look for one that another chain's births are in.
constexpr size_t kManyLanes = 16;
constexpr size_t kRecentLanes = 4;

constexpr size_t kMostChains = 256;  // whose counts are looked at where a lane's row changes
constexpr size_t kMostExits = size_t{1} << 26;  // kept, of 2 bytes

}  // namespace

Lanes::Lanes(const BlockOrder& order, std::span<const BlockId> blocks) : order_(order) {
  items_.reserve(blocks.size());
  for (const BlockId block : blocks) {
    items_.push_back(MakeItem(block));
    if (Place(static_cast<uint32_t>(items_.size() - 1))) {
      if (lanes_.size() == kManyLanes && !noted_) NoteDeaths(blocks);
      continue;
    }
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

Exits::Exits(const Lanes& lanes) : lanes_(lanes) {
  if (lanes.size() < 2 || lanes.lanes() > kMostExits / lanes.size() || !SortMarkers()) return;
  std::vector<Walk> walks(lanes.lanes());
  SetUp(&walks);
  for (uint32_t birth = 0; birth < lanes.size(); ++birth) {
    Walk& walk = walks[lanes.lane(birth)];
    if (walk.plain) Step(birth, &walk);
  }
  marks_ = {};
}

// False: the markers lie on too many chains.
bool Exits::SortMarkers() {
  std::unordered_map<uint32_t, size_t> place_of;  // by chain
  std::vector<size_t> counts;
  markers_.assign(lanes_.size(), 0);
  for (uint32_t item = 0; item < lanes_.size(); ++item) {
    if (!lanes_.Regular(item)) continue;
    const std::span<const NodeId> markers = lanes_.Markers(item);
    if (markers.size() > kMostMarkers) continue;
    markers_[item] = static_cast<uint8_t>(markers.size());
    for (const NodeId marker : markers) {
      const uint32_t chain = lanes_.order().PlaceOf(marker).chain;
      const auto [at, fresh] = place_of.try_emplace(chain, chains_.size());
      if (fresh) {
        if (chains_.size() == kMostChains) return false;
        chains_.push_back(chain);
        counts.push_back(0);
      }
      ++counts[at->second];
    }
  }
  marks_.resize(chains_.size());
  for (size_t i = 0; i < marks_.size(); ++i) marks_[i].reserve(counts[i]);
  for (uint32_t item = 0; item < lanes_.size(); ++item) {
    if (markers_[item] == 0) continue;
    for (const NodeId marker : lanes_.Markers(item)) {
      const ChainPlace place = lanes_.order().PlaceOf(marker);
      marks_[place_of.at(place.chain)].push_back({place.seq, item});
    }
  }
  for (std::vector<Mark>& marks : marks_) std::ranges::sort(marks, {}, &Mark::seq);
  return true;
}

// Where the order has to be asked: in lanes that aren't simple, and for blocks that aren't.
void Exits::SetUp(std::vector<Walk>* walks) {
  const auto lanes = static_cast<uint32_t>(lanes_.lanes());
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    const std::span<const uint32_t> births = lanes_.births(lane);
    (*walks)[lane].plain =
        std::ranges::all_of(births, [&](uint32_t birth) { return lanes_.Plain(birth); });
    (*walks)[lane].next.resize(chains_.size());
  }
  deltas_.reserve(lanes_.size() * lanes);
  for (uint32_t item = 0; item < lanes_.size(); ++item) {
    const bool dies = lanes_.Dies(item);
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      const bool ask = dies && (markers_[item] == 0 || !(*walks)[lane].plain);
      const auto missing = static_cast<uint16_t>(kFar + std::max<uint8_t>(markers_[item], 1));
      deltas_.push_back(ask ? kFar : missing);
    }
  }
}

// The markers that a birth comes after, and no earlier one of its lane.
void Exits::Step(uint32_t birth, Walk* walk) {
  const OrderPoint& alloc = lanes_.Alloc(birth);
  const bool same_row = alloc.chain == walk->last.chain && alloc.row == walk->last.row;
  if (alloc.chain == OrderPoint::kNoChain) return;
  if (same_row && alloc.count == walk->last.count) return;
  for (size_t i = 0; i < chains_.size(); ++i) {
    if (same_row && chains_[i] != alloc.chain) continue;
    const uint32_t count = lanes_.order().CountAt(alloc, chains_[i]);
    const std::vector<Mark>& marks = marks_[i];
    size_t& next = walk->next[i];
    for (; next < marks.size() && marks[next].seq < count; ++next) Pass(birth, marks[next].item);
  }
  walk->last = alloc;
}

void Exits::Pass(uint32_t birth, uint32_t item) {
  const uint32_t lane = lanes_.lane(birth);
  uint16_t& delta = deltas_[static_cast<size_t>(item) * lanes_.lanes() + lane];
  if (delta != kFar + 1) {
    --delta;
    return;
  }
  const uint32_t first_after = lanes_.FirstAfter(item);
  if (birth < first_after) {
    const std::span<const uint32_t> births = lanes_.births(lane);
    const auto later = std::ranges::lower_bound(births, first_after);
    if (later == births.end()) return;
    birth = *later;
  }
  delta = static_cast<uint16_t>(std::min<uint32_t>(birth - item, kFar));
}

}  // namespace graphkit
