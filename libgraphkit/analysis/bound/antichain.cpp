#include "libgraphkit/analysis/bound/antichain.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace graphkit {
namespace {

constexpr uint32_t kNone = 0xffffffffu;
constexpr Bytes kUnlimited = std::numeric_limits<Bytes>::max() / 4;

}  // namespace

AntichainFlow::AntichainFlow(const Lanes& lanes, const Exits& exits)
    : lanes_(lanes), exits_(exits), lane_first_(lanes.lanes() + 1), visible_(lanes.lanes()) {}

// Sorts the items into their lanes.
void AntichainFlow::LayOut(std::span<const uint32_t> items) {
  items_.assign(items.begin(), items.end());
  const size_t count = items_.size();
  std::fill(lane_first_.begin(), lane_first_.end(), 0);
  for (const uint32_t item : items_) ++lane_first_[lanes_.lane(item) + 1];
  used_lanes_.clear();
  for (uint32_t lane = 0; lane < lanes_.lanes(); ++lane) {
    if (lane_first_[lane + 1] != 0) used_lanes_.push_back(lane);
    lane_first_[lane + 1] += lane_first_[lane];
  }
  lane_births_.resize(count);
  lane_pos_.resize(count);
  next_.assign(lane_first_.begin(), lane_first_.end() - 1);
  for (uint32_t local = 0; local < count; ++local) {
    lane_pos_[local] = next_[lanes_.lane(items_[local])]++;
    lane_births_[lane_pos_[local]] = local;
  }
  total_ = 0;
  for (const uint32_t item : items_) total_ += lanes_.weight(item);
}

// For each lane, the first birth that x is before: all that follow are, too.
void AntichainFlow::FindExits(uint32_t local) {
  const uint32_t x = items_[local];
  if (!lanes_.Dies(x)) return;
  const uint32_t last = items_.back();
  for (const uint32_t lane : used_lanes_) {
    const uint32_t exit = exits_.Of(x, lane);
    uint32_t birth = kNone;
    if (exit == Exits::kUnknown) {
      birth = SearchExit(local, lane);
    } else if (exit <= last) {
      const auto begin = lane_births_.begin() + lane_first_[lane];
      const auto end = lane_births_.begin() + lane_first_[lane + 1];
      const auto found =
          std::partition_point(begin, end, [&](uint32_t other) { return items_[other] < exit; });
      if (found != end) birth = *found;
    }
    if (birth == kNone) continue;
    exit_to_.push_back(birth);
    exit_from_.push_back(local);
  }
}

uint32_t AntichainFlow::SearchExit(uint32_t local, uint32_t lane) const {
  const uint32_t x = items_[local];
  const auto begin = lane_births_.begin() + lane_first_[lane];
  const auto end = lane_births_.begin() + lane_first_[lane + 1];
  auto from = begin;
  if (!lanes_.AnyOrder(x)) {
    if (*(end - 1) <= local) return kNone;
    if (*begin <= local) from = std::upper_bound(begin, end, local);
  }
  if (!lanes_.Before(x, items_[*(end - 1)])) return kNone;
  return *std::partition_point(from, end,
                               [&](uint32_t birth) { return !lanes_.Before(x, items_[birth]); });
}

// Gives bytes of exits that are open to a birth.
void AntichainFlow::HandOn(uint32_t birth, std::vector<uint32_t>* visible) {
  const Bytes wanted = lanes_.weight(items_[birth]);
  while (taken_[birth] < wanted && !visible->empty()) {
    const uint32_t exit = visible->back();
    const uint32_t x = exit_from_[exit];
    const Bytes left = lanes_.weight(items_[x]) - given_[x];
    const Bytes bytes = std::min(left, wanted - taken_[birth]);
    given_[x] += bytes;
    taken_[birth] += bytes;
    exit_flow_[exit] += bytes;
    handed_ += bytes;
    // On its way through the lane; summed up in BuildArcs().
    passed_[exit_to_[exit]] += bytes;
    passed_[birth] -= bytes;
    if (bytes == left) visible->pop_back();
  }
}

Bytes AntichainFlow::Fluid(std::span<const uint32_t> items) {
  LayOut(items);
  const size_t count = items_.size();
  exit_first_.assign(1, 0);
  exit_to_.clear();
  exit_from_.clear();
  for (uint32_t local = 0; local < count; ++local) {
    FindExits(local);
    exit_first_.push_back(static_cast<uint32_t>(exit_to_.size()));
  }
  exit_flow_.assign(exit_to_.size(), 0);
  given_.assign(count, 0);
  taken_.assign(count, 0);
  passed_.assign(count, 0);
  handed_ = 0;
  opens_first_.assign(count + 1, 0);
  for (const uint32_t birth : exit_to_) ++opens_first_[birth + 1];
  std::partial_sum(opens_first_.begin(), opens_first_.end(), opens_first_.begin());
  opens_.resize(exit_to_.size());
  next_.assign(opens_first_.begin(), opens_first_.end() - 1);
  for (uint32_t exit = 0; exit < exit_to_.size(); ++exit) opens_[next_[exit_to_[exit]]++] = exit;
  for (const uint32_t lane : used_lanes_) visible_[lane].clear();
  for (uint32_t birth = 0; birth < count; ++birth) {
    std::vector<uint32_t>& visible = visible_[lanes_.lane(items_[birth])];
    visible.insert(visible.end(), opens_.begin() + opens_first_[birth],
                   opens_.begin() + opens_first_[birth + 1]);
    HandOn(birth, &visible);
  }
  return total_ - handed_;
}

void AntichainFlow::AddArc(uint32_t from, uint32_t to, Bytes forward, Bytes backward) {
  arcs_.push_back({to, forward});
  arcs_.push_back({from, backward});
}

void AntichainFlow::BuildArcs() {
  const auto count = static_cast<uint32_t>(items_.size());
  arcs_.clear();
  for (uint32_t x = 0; x < count; ++x) {
    const Bytes weight = lanes_.weight(items_[x]);
    if (exit_first_[x] != exit_first_[x + 1]) {
      AddArc(kSource, Supply(x), weight - given_[x], given_[x]);
    }
    for (uint32_t exit = exit_first_[x]; exit < exit_first_[x + 1]; ++exit) {
      AddArc(Supply(x), Birth(exit_to_[exit]), kUnlimited, exit_flow_[exit]);
    }
    AddArc(Birth(x), kSink, weight - taken_[x], taken_[x]);
  }
  for (const uint32_t lane : used_lanes_) {
    Bytes through = 0;
    for (uint32_t at = lane_first_[lane]; at + 1 < lane_first_[lane + 1]; ++at) {
      through += passed_[lane_births_[at]];
      AddArc(Birth(lane_births_[at]), Birth(lane_births_[at + 1]), kUnlimited, through);
    }
  }
  const uint32_t nodes = 2 + 2 * count;
  out_first_.assign(nodes + 1, 0);
  for (size_t arc = 0; arc < arcs_.size(); ++arc) ++out_first_[arcs_[arc ^ 1].to + 1];
  std::partial_sum(out_first_.begin(), out_first_.end(), out_first_.begin());
  out_.resize(arcs_.size());
  next_.assign(out_first_.begin(), out_first_.end() - 1);
  for (uint32_t arc = 0; arc < arcs_.size(); ++arc) out_[next_[arcs_[arc ^ 1].to]++] = arc;
}

// Distances from the source over arcs with room left. False: the sink is out of reach.
bool AntichainFlow::FindLevels() {
  level_.assign(2 + 2 * items_.size(), kNone);
  level_[kSource] = 0;
  queue_.assign(1, kSource);
  for (size_t at = 0; at < queue_.size(); ++at) {
    const uint32_t node = queue_[at];
    for (uint32_t i = out_first_[node]; i < out_first_[node + 1]; ++i) {
      const Arc& arc = arcs_[out_[i]];
      if (arc.residual == 0 || level_[arc.to] != kNone) continue;
      level_[arc.to] = level_[node] + 1;
      queue_.push_back(arc.to);
    }
  }
  return level_[kSink] != kNone;
}

// Pushes bytes along shortest paths until there is none left (Dinic), with an explicit path.
Bytes AntichainFlow::Augment() {
  Bytes pushed = 0;
  next_.assign(out_first_.begin(), out_first_.end() - 1);
  std::vector<uint32_t>& path = queue_;  // arcs from the source
  path.clear();
  uint32_t node = kSource;
  while (true) {
    if (node == kSink) {
      Bytes room = kUnlimited;
      for (const uint32_t arc : path) room = std::min(room, arcs_[arc].residual);
      size_t first_full = path.size();
      for (size_t i = path.size(); i-- > 0;) {
        arcs_[path[i]].residual -= room;
        arcs_[path[i] ^ 1].residual += room;
        if (arcs_[path[i]].residual == 0) first_full = i;
      }
      pushed += room;
      node = arcs_[path[first_full] ^ 1].to;
      path.resize(first_full);
      continue;
    }
    uint32_t& next = next_[node];
    while (next < out_first_[node + 1] &&
           (arcs_[out_[next]].residual == 0 || level_[arcs_[out_[next]].to] != level_[node] + 1)) {
      ++next;
    }
    if (next < out_first_[node + 1]) {
      path.push_back(out_[next]);
      node = arcs_[out_[next]].to;
      continue;
    }
    if (path.empty()) return pushed;
    level_[node] = kNone;
    node = arcs_[path.back() ^ 1].to;
    path.pop_back();
  }
}

Bytes AntichainFlow::Solve(Bytes enough, std::vector<uint32_t>* antichain) {
  BuildArcs();
  while (FindLevels()) {
    handed_ += Augment();
    if (total_ - handed_ <= enough) return 0;
  }
  antichain->clear();
  Bytes weight = 0;
  for (uint32_t x = 0; x < items_.size(); ++x) {
    const bool can_give = exit_first_[x] == exit_first_[x + 1] || level_[Supply(x)] != kNone;
    if (!can_give || level_[Birth(x)] != kNone) continue;
    antichain->push_back(items_[x]);
    weight += lanes_.weight(items_[x]);
  }
  return weight;
}

}  // namespace graphkit
