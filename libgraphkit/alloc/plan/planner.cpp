#include "libgraphkit/alloc/plan/planner.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <numeric>

#include "libgraphkit/alloc/plan/canonical_search.h"
#include "libgraphkit/alloc/plan/greedy.h"
#include "libgraphkit/alloc/plan/lifetime_arena.h"

namespace graphkit {
namespace {

using Clock = std::chrono::steady_clock;

// Above this many blocks or conflicts exact search is hopeless, and its tables large.
constexpr size_t kMaxExactBlocks = 4000;
constexpr uint64_t kMaxExactConflicts = 4'000'000;

// How far from the lower bound to the best plan the next search aims, in 64ths. Mostly at the bound
// itself; now and then higher, for problems whose bound can't be reached.
constexpr std::array<uint32_t, 8> kAims = {0, 0, 32, 0, 8, 0, 48, 16};
constexpr std::array<SearchOrder, 3> kOrders = {
    SearchOrder::kLoadWidthArea, SearchOrder::kWidthAreaLoad, SearchOrder::kLoadAreaWidth};

uint64_t ConflictsOf(const LifetimeArena& component) {
  std::vector<int32_t> begins;
  for (const ArenaBlock& b : component.blocks) begins.push_back(b.life.lower);
  std::sort(begins.begin(), begins.end());
  uint64_t pairs = 0;
  for (const ArenaBlock& b : component.blocks) {
    const auto from = std::lower_bound(begins.begin(), begins.end(), b.life.lower);
    const auto to = std::lower_bound(begins.begin(), begins.end(), b.life.upper);
    pairs += static_cast<uint64_t>(to - from);
  }
  return 2 * (pairs - std::min<uint64_t>(pairs, component.blocks.size()));
}

// Works on one component of an arena.
class ComponentPlanner {
 public:
  // `goal`: no peak below it is of use.
  ComponentPlanner(const LifetimeArena& component, Bytes goal, const PlannerOptions& options,
                   Clock::time_point start)
      : component_(component), goal_(goal), options_(options), start_(start) {
    for (const ArenaBlock& b : component.blocks)
      unit_ = std::gcd(unit_, std::gcd(b.size, b.alignment));
  }

  GreedyPlan Run(uint64_t* effort) {
    best_ = PlaceByPortfolio(component_);
    Report(*effort);
    const bool fixed = std::ranges::any_of(
        component_.blocks, [](const ArenaBlock& b) { return b.fixed != PlanBlock::kAnywhere; });
    const uint64_t conflicts = ConflictsOf(component_);
    if (fixed || component_.blocks.size() > kMaxExactBlocks || conflicts > kMaxExactConflicts) {
      return std::move(best_);
    }
    for (uint64_t round = 0; !Done() && *effort < options_.effort; ++round) {
      *effort += Attempt(round, options_.effort - *effort);
      Report(*effort);
    }
    return std::move(best_);
  }

  // No plan below it is possible, or of use.
  Bytes goal() const { return goal_; }

 private:
  bool Done() const {
    if (best_.peak <= goal_ || (options_.stop && *options_.stop)) return true;
    if (options_.seconds <= 0) return false;
    return std::chrono::duration<double>(Clock::now() - start_).count() > options_.seconds;
  }

  // One search; returns its work.
  uint64_t Attempt(uint64_t round, uint64_t max_work) {
    const uint64_t turn = round / kAims.size();
    const Bytes room = (best_.peak - 1 - goal_) / unit_ * unit_;
    const Bytes capacity = goal_ + room / 64 / unit_ * unit_ * kAims[round % kAims.size()];
    const SearchOrder order = kOrders[round % kOrders.size()];
    const uint64_t seed = round < kOrders.size() ? 0 : options_.seed * 1'000'003 + round;
    const uint64_t limit = component_.blocks.size() * (4 + turn / 4);
    CanonicalSearch search(component_, order, seed, failures_);
    const SearchOutcome outcome = search.Run(capacity, limit, max_work, options_.stop);
    if (outcome == SearchOutcome::kFound) Take(search.offsets());
    if (outcome == SearchOutcome::kInfeasible) goal_ = std::min(capacity + unit_, best_.peak);
    Remember(search.failures());
    return search.work() + 1;
  }

  // Where searches fail moves as they learn: what lies back counts less and less.
  void Remember(const std::vector<uint64_t>& failures) {
    failures_.resize(failures.size());
    for (size_t i = 0; i < failures.size(); ++i) failures_[i] += failures[i] - failures_[i] / 10;
  }

  void Take(const std::vector<Bytes>& offsets) {
    best_.offsets = offsets;
    best_.peak = 0;
    for (size_t i = 0; i < offsets.size(); ++i) {
      best_.peak = std::max(best_.peak, offsets[i] + component_.blocks[i].size);
    }
  }

  void Report(uint64_t effort) const {
    if (options_.progress) options_.progress({best_.peak, goal_, effort});
  }

  const LifetimeArena& component_;
  Bytes goal_;
  const PlannerOptions& options_;
  Clock::time_point start_;
  Bytes unit_ = 0;                  // all sizes are multiples of it
  std::vector<uint64_t> failures_;  // by section, of the searches so far
  GreedyPlan best_;
};

// The hardest part first: what it needs, the others may use as well.
ArenaPlan PlanArena(const LifetimeArena& arena, const PlannerOptions& options, uint64_t* effort,
                    Clock::time_point start, std::vector<Bytes>* offsets) {
  ArenaPlan plan{arena.arena, 0, arena.lower_bound};
  std::vector<LifetimeArena> components = SplitIntoComponents(arena);
  std::ranges::stable_sort(components, std::ranges::greater(), &LifetimeArena::lower_bound);
  for (const LifetimeArena& component : components) {
    const Bytes goal = std::max({plan.peak, plan.lower_bound, options.good_enough});
    ComponentPlanner planner(component, goal, options, start);
    const GreedyPlan part = planner.Run(effort);
    for (size_t i = 0; i < component.blocks.size(); ++i) {
      (*offsets)[component.blocks[i].block] = part.offsets[i];
    }
    plan.peak = std::max(plan.peak, part.peak);
    // A goal that was raised is a proof for this component, and so for the arena.
    if (planner.goal() > goal) plan.lower_bound = std::max(plan.lower_bound, planner.goal());
  }
  return plan;
}

}  // namespace

Plan PlanLifetimes(const LifetimeProblem& problem, const PlannerOptions& options) {
  const Clock::time_point start = Clock::now();
  Plan plan;
  plan.offsets.resize(problem.blocks.size());
  uint64_t effort = 0;
  for (const LifetimeArena& arena : SplitIntoArenas(problem)) {
    plan.arenas.push_back(PlanArena(arena, options, &effort, start, &plan.offsets));
    plan.peak += plan.arenas.back().peak;
    plan.lower_bound += plan.arenas.back().lower_bound;
  }
  return plan;
}

}  // namespace graphkit
