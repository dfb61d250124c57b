#include "libgraphkit/alloc/plan/component_planner.h"

#include <numeric>

namespace graphkit {
namespace {

// Above this many blocks or conflicts exact search is hopeless, and its tables large.
constexpr size_t kMaxExactBlocks = 5000;
constexpr size_t kMaxConflicts = 50'000'000;

// Ejection takes such a part of exact search's effort, of a graph's order so many times as much, or
// where exact search is hopeless, such a part of the whole; in steps of so many looks at conflicts,
// or of such a part of those taken so far. By time, a look is so much effort.
constexpr uint64_t kEjectionPart = 8;
constexpr uint64_t kEjectionTimes = 2;
constexpr uint64_t kEjectionAlone = 3;
constexpr uint64_t kEffortPerPair = 3000;  // at most, where blocks are few
constexpr uint64_t kEffortPerLook = 6;
constexpr uint64_t kLeastLooks = 1'000'000;
constexpr uint64_t kEjectionSteps = 4;
// Of a graph's order with a few large blocks beside many small ones, plans at the bound are found
// sooner if the large ones make room, too.
constexpr double kRoot = 0.5;
constexpr double kRootOfRoot = 0.25;

// How far from the lower bound to the best plan the next search aims, in 64ths. Mostly at the bound
// itself; now and then higher, for problems whose bound can't be reached.
constexpr std::array<uint32_t, 8> kAims = {0, 0, 32, 0, 8, 0, 48, 16};
// One search of so many, in each order, takes blocks by rank alone: that is quick, and for some
// problems better.
constexpr uint64_t kTurns = 4;
constexpr std::array<SearchOrder, 3> kOrders = {
    SearchOrder::kLoadWidthArea, SearchOrder::kWidthAreaLoad, SearchOrder::kLoadAreaWidth};

}  // namespace

ComponentPlanner::ComponentPlanner(LifetimeArena component, Bytes goal,
                                   const PlannerOptions& options, GreedyPlan plan,
                                   const ConflictLists* conflicts)
    : component_(std::move(component)),
      goal_(goal),
      options_(options),
      best_(std::move(plan)),
      conflicts_(conflicts),
      searched_peak_(best_.peak) {
  for (const ArenaBlock& b : component_.blocks)
    unit_ = std::gcd(unit_, std::gcd(b.size, b.alignment));
}

uint64_t ComponentPlanner::Step(uint64_t max_effort, const std::function<bool()>& more) {
  if (!prepared_) Prepare();
  const uint64_t share = own_conflicts_ ? searched_ / kEjectionPart : kEjectionTimes * searched_;
  const bool eject = ejected_ + kLeastLooks * kEffortPerLook < share;
  if (exact_ && !eject) return Search(max_effort);
  return ejections_.empty() ? 0 : Eject(max_effort, more);
}

// The effort of ejection where exact search is hopeless.
uint64_t ComponentPlanner::AllEjection() const {
  const uint64_t blocks = component_.blocks.size();
  return std::min(options_.effort / kEjectionAlone, kEffortPerPair * blocks * blocks);
}

// Prepares the searches that are possible.
void ComponentPlanner::Prepare() {
  prepared_ = true;
  const bool ordered = conflicts_ != nullptr;
  std::vector<RankLifetime> lifetimes;
  std::vector<PlanBlock> blocks;
  for (const ArenaBlock& b : component_.blocks) {
    lifetimes.push_back(b.life);
    blocks.push_back({.size = b.size, .alignment = b.alignment, .fixed = b.fixed});
  }
  if (!ordered) {
    own_conflicts_ = std::make_unique<ConflictLists>(lifetimes, kMaxConflicts);
    conflicts_ = own_conflicts_.get();
    if (!conflicts_->complete()) return;
  }
  const bool fixed = std::ranges::any_of(
      component_.blocks, [](const ArenaBlock& b) { return b.fixed != PlanBlock::kAnywhere; });
  if (component_.blocks.size() <= kMaxExactBlocks && !fixed) {
    if (ordered) FindSections(*conflicts_, &component_);
    exact_ = std::make_unique<CanonicalSearch>(component_, *conflicts_);
  }
  ejections_.emplace_back(*conflicts_, blocks, kRoot, options_.seed);
  if (ordered) ejections_.emplace_back(*conflicts_, blocks, kRootOfRoot, options_.seed);
}

uint64_t ComponentPlanner::Eject(uint64_t max_effort, const std::function<bool()>& more) {
  GuidedEjection& ejection = ejections_[steps_++ % ejections_.size()];
  const uint64_t before = ejection.looks();
  const uint64_t looks =
      std::min(max_effort / kEffortPerLook, std::max(kLeastLooks, before / kEjectionSteps));
  ejection.Step(goal_, looks, more, &best_);
  const uint64_t effort = (ejection.looks() - before) * kEffortPerLook + 1;
  ejected_ += effort;
  return effort;
}

// One exact search.
uint64_t ComponentPlanner::Search(uint64_t max_work) {
  const uint64_t round = round_++;
  const uint64_t turn = round / kAims.size();
  // A plan that fits is all that is asked for; how much less there could be is a side question.
  const uint32_t aim =
      options_.capacity == 0 || round % kAims.size() == 2 ? kAims[round % kAims.size()] : 0;
  const Bytes room = (searched_peak_ - 1 - goal_) / unit_ * unit_;
  const Bytes capacity = goal_ + room / 64 / unit_ * unit_ * aim;
  const SearchOutcome outcome =
      exact_->Run({.capacity = capacity,
                   .order = kOrders[round % kOrders.size()],
                   .seed = round < 2 * kOrders.size() ? 0 : options_.seed * 1'000'003 + round,
                   .tried = round / kOrders.size() % kTurns == 0 ? 1 : kMostTried,
                   .max_nodes = component_.blocks.size() * (4 + turn / 4),
                   .max_work = max_work,
                   .stop = options_.stop});
  if (outcome == SearchOutcome::kFound) Take(exact_->offsets());
  if (outcome == SearchOutcome::kInfeasible) {
    goal_ = std::min(capacity + unit_, best_.peak);
    proved_ = true;
  }
  searched_ += exact_->work() + 1;
  return exact_->work() + 1;
}

void ComponentPlanner::Take(const std::vector<Bytes>& offsets) {
  searched_peak_ = 0;
  for (size_t i = 0; i < offsets.size(); ++i)
    searched_peak_ = std::max(searched_peak_, offsets[i] + component_.blocks[i].size);
  if (searched_peak_ < best_.peak) best_ = {offsets, searched_peak_};
}

}  // namespace graphkit
