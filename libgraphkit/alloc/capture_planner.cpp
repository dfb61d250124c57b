#include "libgraphkit/alloc/capture_planner.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <numeric>
#include <unordered_map>

#include "libgraphkit/alloc/capture_lifetimes.h"
#include "libgraphkit/alloc/chain_cover.h"
#include "libgraphkit/alloc/order_greedy.h"
#include "libgraphkit/alloc/plan_repair.h"
#include "libgraphkit/alloc/plan_window.h"
#include "libgraphkit/analysis/lower_bound.h"
#include "libgraphkit/analysis/usage.h"
#include "libgraphkit/model/random.h"

namespace graphkit {
namespace {

// Exact search over lifetimes in capture order is worth it up to here.
constexpr size_t kMaxSearchedBlocks = 4000;

// So many tries in a row without a better plan, and there will hardly be one.
constexpr uint64_t kIdleRounds = 1000;
// And so many tries for what makes the peak, by moving single blocks and all around it.
constexpr uint32_t kRepairTries = 200;
// Before that all that ends above the bound and a part of it is put below that where few tries do.
constexpr std::array<Bytes, 3> kSettle = {32, 100, 400};
constexpr uint32_t kSettleTries = 4;
constexpr uint32_t kWindowTries = 120;
constexpr uint64_t kWindowPart = 8;  // of the looks

// Placing everything again is worth it up to here.
constexpr size_t kMaxImproved = 20'000;

// What a block more may cost in looks at conflicts, up to twice the given ones.
constexpr uint64_t kLooksPerBlock = 10'000;

// Blocks of one size are chained up to so many, times their lanes.
constexpr size_t kMaxChained = 16'000'000;

struct Attempt {
  OrderGreedy::Sequence sequence;
  Fit fit;
};

// Training wants long lifetimes first, pipelines large and long ones, most others size.
constexpr std::array<Attempt, 6> kPortfolio = {{
    {OrderGreedy::Sequence::kSize, Fit::kFirst},
    {OrderGreedy::Sequence::kArea, Fit::kFirst},
    {OrderGreedy::Sequence::kSpan, Fit::kFirst},
    {OrderGreedy::Sequence::kBirth, Fit::kBest},
    {OrderGreedy::Sequence::kSize, Fit::kBest},
    {OrderGreedy::Sequence::kSpan, Fit::kBest},
}};

class CapturePlanner {
 public:
  CapturePlanner(const Lanes& lanes, std::span<const Bytes> fixed, Bytes bound,
                 const CapturePlannerOptions& options)
      : lanes_(lanes),
        fixed_(fixed),
        options_(options),
        greedy_(lanes, fixed, options.alignment),
        bound_(bound),
        start_(std::chrono::steady_clock::now()) {}

  // Offsets by item.
  OrderGreedy::Plan Run() {
    if (OfOneSize()) {
      PlaceInChains();
      if (Done()) return std::move(best_);
    }
    for (const Attempt& attempt : kPortfolio) {
      if (best_.peak != kNoPlan && (Done() || greedy_.looks() > Looks() / 6)) break;
      Try(greedy_.InSequence(attempt.sequence), attempt.fit);
    }
    if (!Done()) SearchLifetimes();
    if (options_.search.effort != 0) Repair();
    if (options_.search.effort != 0 && lanes_.size() <= kMaxImproved) Improve();
    return std::move(best_);
  }

 private:
  bool Done() const {
    if (best_.peak <= std::max(bound_, options_.search.good_enough)) return true;
    if (options_.search.stop != nullptr && *options_.search.stop) return true;
    if (options_.search.seconds <= 0) return false;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start_;
    return took.count() > options_.search.seconds;
  }
  uint64_t Looks() const {
    return options_.looks + std::min(2 * options_.looks, kLooksPerBlock * lanes_.size());
  }
  bool Spent() const { return greedy_.looks() > options_.looks; }

  bool OfOneSize() const {
    if (lanes_.size() == 0 || lanes_.size() * lanes_.lanes() > kMaxChained) return false;
    for (uint32_t item = 0; item < lanes_.size(); ++item) {
      const bool fixed = fixed_[item] != PlanBlock::kAnywhere;
      if (fixed || lanes_.weight(item) != lanes_.weight(0)) return false;
    }
    return lanes_.weight(0) != 0;
  }

  // As few places as can be.
  void PlaceInChains() {
    const ChainCover cover = CoverByChains(lanes_);
    const Bytes step = RoundUp(lanes_.weight(0), options_.alignment);
    best_ = {std::vector<Bytes>(lanes_.size()), (cover.chains - 1) * step + lanes_.weight(0)};
    for (uint32_t item = 0; item < lanes_.size(); ++item) {
      best_.offsets[item] = cover.chain[item] * step;
    }
    best_sequence_ = greedy_.ByOffset(best_);
  }

  bool Try(std::vector<uint32_t> sequence, Fit fit) {
    OrderGreedy::Plan plan = greedy_.Place(sequence, fit, best_.peak);
    if (plan.peak >= best_.peak) return false;
    best_ = std::move(plan);
    best_sequence_ = std::move(sequence);
    best_fit_ = fit;
    if (options_.search.progress) options_.search.progress({best_.peak, bound_, greedy_.looks()});
    return true;
  }

  // Lifetimes in capture order conflict wherever blocks do, and in more places: a plan of theirs is
  // one of the blocks'.
  void SearchLifetimes() {
    if (lanes_.size() > kMaxSearchedBlocks && lanes_.lanes() != 1) return;
    const LifetimeProblem problem =
        LifetimesInCaptureOrder(lanes_, greedy_.conflicts(), fixed_, options_.alignment);
    PlannerOptions options = options_.search;
    // What lies between the bound and the lifetimes' own can't be had: little effort there.
    if (lanes_.lanes() != 1) options.effort = std::min<uint64_t>(options.effort, 500'000'000);
    options.good_enough = std::max(options.good_enough, bound_);
    Plan plan = PlanLifetimes(problem, options);
    if (plan.peak >= best_.peak) return;
    best_ = {std::move(plan.offsets), plan.peak};
    best_sequence_ = greedy_.ByOffset(best_);
    best_fit_ = Fit::kFirst;
  }

  // All that reaches above `target`, the highest first: where it can be put below, the rest of the
  // looks are spent on what can't.
  void SettleBelow(Bytes target, PlanRepair* repair, const std::function<bool()>& more) {
    std::vector<uint32_t> high;
    for (uint32_t item = 0; item < lanes_.size(); ++item) {
      if (Top(item) > target && fixed_[item] == PlanBlock::kAnywhere) high.push_back(item);
    }
    std::ranges::stable_sort(high, std::ranges::greater(),
                             [&](uint32_t item) { return Top(item); });
    for (const uint32_t item : high) {
      for (uint32_t tries = 0; tries < kSettleTries && Top(item) > target && more(); ++tries) {
        repair->Lower(item, target + 1, &best_.offsets);
      }
    }
    Highest();
  }

  // Until nothing reaches up to the peak any more, or it has been tried often enough.
  void Repair() {
    if (lanes_.size() == 0 || !greedy_.lists().complete()) return;
    PlanRepair repair(lanes_, greedy_.lists(), fixed_, options_.alignment, options_.search.seed);
    PlanWindow window(lanes_, greedy_.lists(), fixed_, options_.alignment, options_.search.seed,
                      &repair);
    const auto more = [&] { return !Done() && repair.looks() + window.looks() < Looks(); };
    const auto more_windows = [&] { return more() && window.looks() < Looks() / kWindowPart; };
    for (const Bytes part : kSettle) {
      SettleBelow(bound_ + bound_ / part, &repair, more);
    }
    bool lower = true;
    while (lower && more()) {
      const uint32_t top = Highest();
      if (Done() || fixed_[top] != PlanBlock::kAnywhere) break;
      lower = false;
      for (uint32_t tries = 0; tries < kRepairTries && !lower && more(); ++tries) {
        lower = repair.Lower(top, best_.peak, &best_.offsets);
      }
      for (uint32_t tries = 0; tries < kWindowTries && !lower && more_windows(); ++tries) {
        lower = window.Lower(top, best_.peak, &best_.offsets);
      }
    }
    Highest();
    best_sequence_ = greedy_.ByOffset(best_);
    best_fit_ = Fit::kFirst;
  }

  Bytes Top(uint32_t item) const {
    return lanes_.weight(item) == 0 ? 0 : best_.offsets[item] + lanes_.weight(item);
  }

  // The peak is brought up to date on the way.
  uint32_t Highest() {
    uint32_t highest = 0;
    for (uint32_t item = 1; item < lanes_.size(); ++item) {
      if (Top(item) > Top(highest)) highest = item;
    }
    best_.peak = Top(highest);
    return highest;
  }

  // What makes the peak comes first in the next try; now and then something else as well.
  void Improve() {
    Random random(options_.search.seed);
    uint64_t useful = 0;  // the last round that was of use
    const auto more = [&](uint64_t round) {
      return !Done() && !Spent() && round - useful < kIdleRounds;
    };
    for (uint64_t round = 0; more(round); ++round) {
      std::vector<uint32_t> sequence = best_sequence_;
      const auto high = [&](uint32_t item) { return Top(item) == best_.peak; };
      const auto middle = std::stable_partition(sequence.begin(), sequence.end(), high);
      // The first of them need not be the very first: it moves up by a random part.
      const auto front = random.Below(static_cast<uint64_t>(middle - sequence.begin()) + 1);
      std::rotate(sequence.begin(), sequence.begin() + static_cast<ptrdiff_t>(front), middle);
      for (int i = 0; round % 2 == 1 && i < 4; ++i) {
        std::swap(sequence[random.Below(sequence.size())], sequence[random.Below(sequence.size())]);
      }
      if (Try(std::move(sequence), best_fit_)) useful = round;
    }
  }

  const Lanes& lanes_;
  std::span<const Bytes> fixed_;
  const CapturePlannerOptions& options_;
  OrderGreedy greedy_;
  Bytes bound_;
  std::chrono::steady_clock::time_point start_;
  OrderGreedy::Plan best_;
  std::vector<uint32_t> best_sequence_;
  Fit best_fit_ = Fit::kFirst;
};

std::vector<Bytes> FixedOffsets(const Lanes& lanes, std::span<const FixedBlock> fixed) {
  std::unordered_map<uint32_t, Bytes> by_block;
  for (const FixedBlock& one : fixed) by_block[one.block.value] = one.offset;
  std::vector<Bytes> offsets(lanes.size(), PlanBlock::kAnywhere);
  for (uint32_t item = 0; item < lanes.size() && !by_block.empty(); ++item) {
    const auto at = by_block.find(lanes.block(item).value);
    if (at != by_block.end()) offsets[item] = at->second;
  }
  return offsets;
}

}  // namespace

CapturePlan PlanCapture(const BlockOrder& order, std::span<const BlockId> blocks,
                        const CapturePlannerOptions& options, std::span<const FixedBlock> fixed) {
  const LowerBound bound = FindLowerBound(order, blocks);
  CapturePlan plan{std::vector<Bytes>(blocks.size()), 0, bound.bytes, bound.exact};
  const Lanes lanes(order, blocks);
  const std::vector<Bytes> fixed_offsets = FixedOffsets(lanes, fixed);
  for (uint32_t item = 0; item < lanes.size(); ++item) {
    if (fixed_offsets[item] == PlanBlock::kAnywhere) continue;
    plan.lower_bound = std::max(plan.lower_bound, fixed_offsets[item] + lanes.weight(item));
  }
  const OrderGreedy::Plan placed =
      CapturePlanner(lanes, fixed_offsets, plan.lower_bound, options).Run();
  if (lanes.size() > 0) plan.peak = placed.peak;
  // Lanes keep the order of the blocks; the few that fit into none share with nobody.
  uint32_t item = 0;
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (item < lanes.size() && lanes.block(item) == blocks[i]) {
      plan.offsets[i] = placed.offsets[item++];
      continue;
    }
    plan.offsets[i] = RoundUp(plan.peak, options.alignment);
    plan.peak = plan.offsets[i] + RoundedSize(order.trace()[blocks[i]]);
  }
  return plan;
}

}  // namespace graphkit
