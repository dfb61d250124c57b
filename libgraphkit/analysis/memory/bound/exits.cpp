#include "libgraphkit/analysis/memory/bound/exits.h"

#include <algorithm>
#include <unordered_map>

namespace graphkit {
namespace {

constexpr size_t kMostChains = 256;  // whose counts are looked at where a lane's row changes
constexpr size_t kMostExits = size_t{1} << 26;  // kept, of 2 bytes

}  // namespace

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
  for (std::vector<Mark>& marks : marks_) {
    std::ranges::sort(marks, {}, &Mark::seq);
  }
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
