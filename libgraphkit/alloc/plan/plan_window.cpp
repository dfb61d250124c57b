#include "libgraphkit/alloc/plan/plan_window.h"

#include <algorithm>
#include <array>
#include <functional>

#include "libgraphkit/model/plan_problem.h"

namespace graphkit {
namespace {

// Blocks that are placed again, in turn. The first size is what conflicts with the highest block.
constexpr std::array<size_t, 3> kMembers = {0, 300, 800};
constexpr uint32_t kRounds = 12;
// So many that found no room are put in by displacing others, with so many tries.
constexpr size_t kDisplaced = 4;
constexpr int kTries = 4;
// How much chance there is in the order, in turn.
constexpr std::array<double, 4> kOrderNoise = {0, 0.1, 0.3, 1};

}  // namespace

PlanWindow::PlanWindow(const Lanes& lanes, const ConflictLists& lists, std::span<const Bytes> fixed,
                       Bytes alignment, uint64_t seed, PlanRepair* repair)
    : lanes_(lanes),
      lists_(lists),
      fixed_(fixed),
      alignment_(alignment),
      random_(seed),
      repair_(repair),
      added_(lanes.size()) {}

void PlanWindow::Add(uint32_t item, const std::vector<Bytes>& offsets) {
  if (added_[item] == attempt_ || lanes_.weight(item) == 0) return;
  if (fixed_[item] != PlanBlock::kAnywhere) return;
  added_[item] = attempt_;
  members_.push_back({item, offsets[item], 0});
}

// What conflicts with the block, then what conflicts with that.
void PlanWindow::Gather(uint32_t item, const std::vector<Bytes>& offsets) {
  members_.clear();
  Add(item, offsets);
  for (const uint32_t other : lists_.Of(item)) Add(other, offsets);
  const size_t wanted = kMembers[attempt_ % kMembers.size()];
  for (size_t tries = 0; tries < 64 && members_.size() < wanted; ++tries) {
    const uint32_t from = members_[random_.Below(members_.size())].item;
    looks_ += lists_.Of(from).size();
    for (const uint32_t other : lists_.Of(from)) {
      if (members_.size() < wanted) Add(other, offsets);
    }
  }
}

void PlanWindow::SetPriorities() {
  const double noise = kOrderNoise[attempt_ / kMembers.size() % kOrderNoise.size()];
  const bool by_area = attempt_ / kMembers.size() / kOrderNoise.size() % 2 == 0;
  for (Member& member : members_) {
    const double chance = static_cast<double>(random_.Below(1024)) / 1024;
    const auto conflicts = static_cast<double>(lists_.Of(member.item).size() + 1);
    member.priority = static_cast<double>(lanes_.weight(member.item)) * (by_area ? conflicts : 1) *
                      (1 + noise * chance);
  }
}

bool PlanWindow::FindGap(uint32_t item, Bytes peak, const std::vector<Bytes>& offsets,
                         Bytes* offset) {
  taken_.clear();
  const std::span<const uint32_t> others = lists_.Of(item);
  looks_ += others.size() + 1;
  for (const uint32_t other : others) {
    const Bytes begin = offsets[other];
    if (begin == kUnplaced || lanes_.weight(other) == 0) continue;
    taken_.push_back({begin, begin + lanes_.weight(other)});
  }
  std::ranges::sort(taken_, {}, &Range::begin);
  taken_.push_back({peak - 1, peak});  // all must end below it
  const Bytes size = lanes_.weight(item);
  Bytes bottom = 0;
  Bytes least = kUnplaced;
  for (const Range& range : taken_) {
    if (range.begin >= bottom + size && range.begin - bottom - size < least) {
      least = range.begin - bottom - size;
      *offset = bottom;
      if (!tightest_) break;
    }
    bottom = std::max(bottom, RoundUp(range.end, alignment_));
  }
  return least != kUnplaced;
}

void PlanWindow::Round(Bytes peak, std::vector<Bytes>* offsets) {
  std::ranges::stable_sort(members_, std::greater<>(), &Member::priority);
  for (const Member& member : members_) (*offsets)[member.item] = kUnplaced;
  failed_.clear();
  for (Member& member : members_) {
    Bytes offset = 0;
    if (FindGap(member.item, peak, *offsets, &offset)) {
      (*offsets)[member.item] = offset;
      continue;
    }
    member.priority *= 1.5 + static_cast<double>(random_.Below(1024)) / 1024;
    failed_.push_back(member.item);
  }
}

// The offsets are what they were if it can't.
bool PlanWindow::Displace(Bytes peak, std::vector<Bytes>* offsets) {
  if (failed_.size() > kDisplaced) return false;
  if (failed_.size() > 1) saved_ = *offsets;
  for (const uint32_t item : failed_) {
    int tries = 0;
    while (tries < kTries && !repair_->Lower(item, peak, offsets)) ++tries;
    if (tries < kTries) continue;
    if (item != failed_.front()) *offsets = saved_;
    return false;
  }
  return true;
}

bool PlanWindow::Lower(uint32_t item, Bytes peak, std::vector<Bytes>* offsets) {
  ++attempt_;
  tightest_ = attempt_ % 2 == 0;
  Gather(item, *offsets);
  SetPriorities();
  for (uint32_t round = 0; round < kRounds; ++round) {
    Round(peak, offsets);
    if (Displace(peak, offsets)) return true;
  }
  for (const Member& member : members_) (*offsets)[member.item] = member.before;
  return false;
}

}  // namespace graphkit
