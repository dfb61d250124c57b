#include "libgraphkit/analysis/memory/bound/antichain.h"

#include <algorithm>
#include <limits>

namespace graphkit {
namespace {

constexpr uint32_t kNone = 0xffffffffu;
constexpr Bytes kUnlimited = std::numeric_limits<Bytes>::max() / 4;

}  // namespace

AntichainFlow::AntichainFlow(const Lanes& lanes, const Exits& exits)
    : lanes_(lanes), exits_(exits), visible_(lanes.lanes()) {}

// Sorts the items into their lanes.
void AntichainFlow::LayOut(std::span<const uint32_t> items) {
  items_.assign(items.begin(), items.end());
  births_.Assign(items_.size(), lanes_.lanes(),
                 [&](size_t local) { return lanes_.lane(items_[local]); });
  used_lanes_.clear();
  for (uint32_t lane = 0; lane < lanes_.lanes(); ++lane) {
    if (!births_.Of(lane).empty()) used_lanes_.push_back(lane);
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
      const std::span<const uint32_t> births = births_.Of(lane);
      const auto found = std::ranges::partition_point(
          births, [&](uint32_t other) { return items_[other] < exit; });
      if (found != births.end()) birth = *found;
    }
    if (birth == kNone) continue;
    exit_to_.push_back(birth);
    exit_from_.push_back(local);
  }
}

uint32_t AntichainFlow::SearchExit(uint32_t local, uint32_t lane) const {
  const uint32_t x = items_[local];
  const std::span<const uint32_t> births = births_.Of(lane);
  auto from = births.begin();
  if (!lanes_.AnyOrder(x)) {
    if (births.back() <= local) return kNone;
    if (births.front() <= local) from = std::ranges::upper_bound(births, local);
  }
  if (!lanes_.Before(x, items_[births.back()])) return kNone;
  return *std::partition_point(from, births.end(),
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

// False: past the deadline, which few lanes never are.
bool AntichainFlow::FindAllExits(ThreadClock::time_point deadline) {
  constexpr size_t kFewLanes = 64;
  constexpr uint32_t kStep = 16;
  exit_first_.assign(1, 0);
  exit_to_.clear();
  exit_from_.clear();
  for (uint32_t local = 0; local < items_.size(); ++local) {
    const bool look = used_lanes_.size() > kFewLanes && local % kStep == 0;
    if (look && ThreadClock::now() > deadline) return false;
    FindExits(local);
    exit_first_.push_back(static_cast<uint32_t>(exit_to_.size()));
  }
  return true;
}

Bytes AntichainFlow::Fluid(std::span<const uint32_t> items, ThreadClock::time_point deadline) {
  LayOut(items);
  const size_t count = items_.size();
  gave_up_ = !FindAllExits(deadline);
  if (gave_up_) return total_;
  exit_flow_.assign(exit_to_.size(), 0);
  given_.assign(count, 0);
  taken_.assign(count, 0);
  passed_.assign(count, 0);
  handed_ = 0;
  opens_.Assign(exit_to_.size(), count, [&](size_t exit) { return exit_to_[exit]; });
  for (const uint32_t lane : used_lanes_) visible_[lane].clear();
  for (uint32_t birth = 0; birth < count; ++birth) {
    std::vector<uint32_t>& visible = visible_[lanes_.lane(items_[birth])];
    const std::span<const uint32_t> opens = opens_.Of(birth);
    visible.insert(visible.end(), opens.begin(), opens.end());
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
    const std::span<const uint32_t> births = births_.Of(lane);
    for (size_t at = 0; at + 1 < births.size(); ++at) {
      through += passed_[births[at]];
      AddArc(Birth(births[at]), Birth(births[at + 1]), kUnlimited, through);
    }
  }
  out_.Assign(arcs_.size(), 2 + 2 * count, [&](size_t arc) { return arcs_[arc ^ 1].to; });
}

// Distances from the source over arcs with room left. False: the sink is out of reach.
bool AntichainFlow::FindLevels() {
  level_.assign(2 + 2 * items_.size(), kNone);
  level_[kSource] = 0;
  queue_.assign(1, kSource);
  for (size_t at = 0; at < queue_.size(); ++at) {
    const uint32_t node = queue_[at];
    for (const uint32_t out : out_.Of(node)) {
      const Arc& arc = arcs_[out];
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
  next_.assign(out_.first.begin(), out_.first.end() - 1);
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
    const auto leads_on = [&](const Arc& arc) {
      return arc.residual != 0 && level_[arc.to] == level_[node] + 1;
    };
    while (next < out_.first[node + 1] && !leads_on(arcs_[out_.items[next]])) ++next;
    if (next < out_.first[node + 1]) {
      path.push_back(out_.items[next]);
      node = arcs_[out_.items[next]].to;
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
