#include "libgraphkit/alloc/plan/order_greedy.h"

#include <algorithm>
#include <numeric>

#include "libgraphkit/alloc/plan/placed_conflicts.h"
#include "libgraphkit/model/plan_problem.h"

namespace graphkit {
namespace {

// Eight bytes each: a million blocks of an ordinary capture have 20 million.
constexpr size_t kMaxListedPairs = 50'000'000;

}  // namespace

OrderGreedy::OrderGreedy(const Lanes& lanes, std::span<const Bytes> fixed, Bytes alignment)
    : lanes_(lanes),
      fixed_(fixed),
      alignment_(alignment),
      conflicts_(lanes),
      lists_(lanes, conflicts_, kMaxListedPairs) {
  for (uint32_t item = 0; item < lanes.size(); ++item) {
    spans_.push_back(EndInCaptureOrder(lanes, conflicts_, item) - item);
  }
}

std::vector<uint32_t> OrderGreedy::InSequence(Sequence sequence) const {
  std::vector<uint32_t> items(lanes_.size());
  std::iota(items.begin(), items.end(), 0u);
  if (sequence == Sequence::kBirth) return items;
  // The larger comes first.
  const auto key = [&](uint32_t item) -> std::pair<Bytes, Bytes> {
    const Bytes size = lanes_.weight(item);
    if (sequence == Sequence::kSize) return {size, spans_[item]};
    if (sequence == Sequence::kSpan) return {spans_[item], size};
    return {size * spans_[item], size};
  };
  std::ranges::stable_sort(items, std::ranges::greater(), key);
  return items;
}

void OrderGreedy::Put(uint32_t item, Bytes offset, Plan* plan) {
  plan->offsets[item] = offset;
  if (lanes_.weight(item) == 0) return;
  plan->peak = std::max(plan->peak, offset + lanes_.weight(item));
  if (!lists_.complete()) conflicts_.Add(item);
}

OrderGreedy::Plan OrderGreedy::Place(std::span<const uint32_t> sequence, Fit fit, Bytes limit) {
  if (!lists_.complete()) conflicts_.Clear();
  Plan plan{std::vector<Bytes>(lanes_.size(), kUnplaced), 0};
  for (const uint32_t item : sequence) {
    if (fixed_[item] != PlanBlock::kAnywhere) Put(item, fixed_[item], &plan);
  }
  for (const uint32_t item : sequence) {
    if (fixed_[item] != PlanBlock::kAnywhere) continue;
    const Bytes offset = lanes_.weight(item) == 0 ? 0 : FindGap(item, fit, plan);
    if (offset + lanes_.weight(item) >= limit) return {};
    Put(item, offset, &plan);
  }
  return plan;
}

// Where the placed ones lie that conflict with the item, from the lowest up.
void OrderGreedy::FindTaken(uint32_t item, const Plan& plan) {
  taken_.clear();
  std::span<const uint32_t> others;
  if (lists_.complete()) {
    others = lists_.Of(item);
  } else {
    found_.clear();
    conflicts_.Find(item, &found_);
    others = found_;
  }
  looks_ += others.size() + 1;
  for (const uint32_t other : others) {
    const Bytes offset = plan.offsets[other];
    if (offset == kUnplaced || lanes_.weight(other) == 0) continue;
    taken_.push_back({offset, offset + lanes_.weight(other)});
  }
  std::ranges::sort(taken_, {}, &Range::begin);
}

Bytes OrderGreedy::FindGap(uint32_t item, Fit fit, const Plan& plan) {
  FindTaken(item, plan);
  const Bytes size = lanes_.weight(item);
  Bytes bottom = 0;
  Bytes best = kNoPlan;
  Bytes best_spare = kNoPlan;
  for (const Range& range : taken_) {
    if (range.begin >= bottom + size) {
      const Bytes spare = range.begin - bottom - size;
      if (fit == Fit::kFirst) return bottom;
      if (spare < best_spare) {
        best_spare = spare;
        best = bottom;
      }
    }
    if (range.end > bottom) bottom = RoundUp(range.end, alignment_);
  }
  return best != kNoPlan ? best : bottom;
}

}  // namespace graphkit
