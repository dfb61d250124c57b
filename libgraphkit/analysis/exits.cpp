#include "libgraphkit/analysis/exits.h"

#include <algorithm>
#include <limits>

namespace graphkit {
namespace {

constexpr size_t kMostChains = 256;  // whose counts are looked at where a lane's row changes

}  // namespace

Exits::Exits(const Lanes& lanes) : lanes_(lanes) {
  if (lanes.size() < 2 || !SortMarkers()) return;
  deltas_.assign(lanes.size() * lanes.lanes(), kNone);
  for (uint32_t item = 0; item < lanes.size(); ++item) {
    if (markers_[item] != 0 || !lanes.Dies(item)) continue;
    const auto begin = deltas_.begin() + static_cast<ptrdiff_t>(item * lanes.lanes());
    std::fill(begin, begin + static_cast<ptrdiff_t>(lanes.lanes()), kFar);
  }
  next_.resize(chains_.size());
  for (uint32_t lane = 0; lane < lanes.lanes(); ++lane) WalkLane(lane);
  marks_ = {};
  passed_ = {};
  first_after_ = {};
}

// False: the markers lie on too many chains.
bool Exits::SortMarkers() {
  constexpr uint32_t kNoPlace = 0xffffffffu;
  const Order& order = lanes_.order();
  std::vector<uint32_t> place_of(order.chains(), kNoPlace);
  markers_.assign(lanes_.size(), 0);
  first_after_.resize(lanes_.size());
  for (uint32_t item = 0; item < lanes_.size(); ++item) {
    if (!lanes_.Regular(item)) continue;
    const std::span<const NodeId> markers = lanes_.Markers(item);
    if (markers.size() > std::numeric_limits<uint8_t>::max()) continue;
    first_after_[item] = lanes_.FirstAfter(item);
    markers_[item] = static_cast<uint8_t>(markers.size());
    for (const NodeId marker : markers) {
      const ChainPlace place = order.PlaceOf(marker);
      if (place_of[place.chain] == kNoPlace) {
        if (chains_.size() == kMostChains) return false;
        place_of[place.chain] = static_cast<uint32_t>(chains_.size());
        chains_.push_back(place.chain);
        marks_.emplace_back();
      }
      marks_[place_of[place.chain]].push_back({place.seq, item});
    }
  }
  for (std::vector<Mark>& marks : marks_) {
    std::sort(marks.begin(), marks.end(),
              [](const Mark& a, const Mark& b) { return a.seq < b.seq; });
  }
  return true;
}

void Exits::WalkLane(uint32_t lane) {
  const std::span<const uint32_t> births = lanes_.births(lane);
  const bool plain = std::all_of(births.begin(), births.end(),
                                 [&](uint32_t birth) { return lanes_.Plain(birth); });
  if (!plain) {
    for (uint32_t item = 0; item < lanes_.size(); ++item) {
      if (lanes_.Dies(item)) deltas_[item * lanes_.lanes() + lane] = kFar;
    }
    return;
  }
  passed_.assign(lanes_.size(), 0);
  std::fill(next_.begin(), next_.end(), 0);
  OrderPoint last;
  for (const uint32_t birth : births) {
    const OrderPoint& alloc = lanes_.Alloc(birth);
    const bool same_row = alloc.chain == last.chain && alloc.row == last.row;
    if (same_row && alloc.count == last.count) continue;
    for (size_t i = 0; i < chains_.size(); ++i) {
      if (same_row && chains_[i] != alloc.chain) continue;
      if (alloc.chain == OrderPoint::kNoChain) continue;
      const uint32_t count = lanes_.order().CountAt(alloc, chains_[i]);
      const std::vector<Mark>& marks = marks_[i];
      size_t& next = next_[i];
      for (; next < marks.size() && marks[next].seq < count; ++next) {
        Pass(lane, birth, marks[next]);
      }
    }
    last = alloc;
  }
}

void Exits::Pass(uint32_t lane, uint32_t birth, const Mark& mark) {
  if (++passed_[mark.item] != markers_[mark.item]) return;
  if (birth < first_after_[mark.item]) {
    const std::span<const uint32_t> births = lanes_.births(lane);
    const auto later = std::lower_bound(births.begin(), births.end(), first_after_[mark.item]);
    if (later == births.end()) return;
    birth = *later;
  }
  const uint32_t delta = birth - mark.item;
  deltas_[static_cast<size_t>(mark.item) * lanes_.lanes() + lane] =
      delta < kFar ? static_cast<uint16_t>(delta) : kFar;
}

}  // namespace graphkit
