#include "libgraphkit/alloc/plan/planner.h"

#include <chrono>
#include <memory>
#include <numeric>
#include <utility>

#include "libgraphkit/alloc/plan/canonical_search.h"
#include "libgraphkit/alloc/plan/conflicts.h"
#include "libgraphkit/alloc/plan/greedy.h"
#include "libgraphkit/alloc/plan/guided_ejection.h"

namespace graphkit {
namespace {

using Clock = std::chrono::steady_clock;

// Above this many blocks or conflicts exact search is hopeless, and its tables large.
constexpr size_t kMaxExactBlocks = 5000;
constexpr size_t kMaxConflicts = 50'000'000;

// Ejection takes such a part of exact search's effort, or, where that is hopeless, of the whole; in
// steps of so many looks at conflicts, or of such a part of those taken so far. By time, a look is
// so much effort.
constexpr uint64_t kEjectionPart = 8;
constexpr uint64_t kEjectionAlone = 3;
constexpr uint64_t kEffortPerPair = 3000;  // at most, where blocks are few
constexpr uint64_t kEffortPerLook = 6;
constexpr uint64_t kLeastLooks = 1'000'000;
constexpr uint64_t kEjectionSteps = 4;

// How far from the lower bound to the best plan the next search aims, in 64ths. Mostly at the bound
// itself; now and then higher, for problems whose bound can't be reached.
constexpr std::array<uint32_t, 8> kAims = {0, 0, 32, 0, 8, 0, 48, 16};
// One search of so many, in each order, takes blocks by rank alone: that is quick, and for some
// problems better.
constexpr uint64_t kTurns = 4;
constexpr std::array<SearchOrder, 3> kOrders = {
    SearchOrder::kLoadWidthArea, SearchOrder::kWidthAreaLoad, SearchOrder::kLoadAreaWidth};

// Works on one component of an arena, step by step: by exact search and by ejection in turn.
class ComponentPlanner {
 public:
  // `goal`: no peak below it is of use.
  ComponentPlanner(LifetimeArena component, Bytes goal, const PlannerOptions& options)
      : component_(std::move(component)),
        goal_(goal),
        options_(options),
        best_(PlaceByPortfolio(component_)),
        searched_peak_(best_.peak) {
    for (const ArenaBlock& b : component_.blocks)
      unit_ = std::gcd(unit_, std::gcd(b.size, b.alignment));
  }

  // True if there is more to be tried.
  bool Unfinished() const {
    if (best_.peak <= goal_) return false;
    return !prepared_ || exact_ || (ejection_ && ejected_ < AllEjection());
  }

  // Takes at most so much effort, roughly; returns what it took.
  uint64_t Step(uint64_t max_effort, const std::function<bool()>& more) {
    if (!prepared_) Prepare();
    const bool eject = kEjectionPart * (ejected_ + kLeastLooks * kEffortPerLook) < searched_;
    if (exact_ && !eject) return Search(max_effort);
    return ejection_ ? Eject(max_effort, more) : 0;
  }

  // No plan below it is possible, or of use.
  Bytes goal() const { return goal_; }
  bool proved() const { return proved_; }  // that it isn't possible
  uint64_t effort() const { return searched_ + ejected_; }
  const LifetimeArena& component() const { return component_; }
  const GreedyPlan& best() const { return best_; }

 private:
  // The effort of ejection where exact search is hopeless.
  uint64_t AllEjection() const {
    const uint64_t blocks = component_.blocks.size();
    return std::min(options_.effort / kEjectionAlone, kEffortPerPair * blocks * blocks);
  }

  // Prepares the searches that are possible.
  void Prepare() {
    prepared_ = true;
    std::vector<RankLifetime> lifetimes;
    std::vector<PlanBlock> blocks;
    for (const ArenaBlock& b : component_.blocks) {
      lifetimes.push_back(b.life);
      blocks.push_back({.size = b.size, .alignment = b.alignment, .fixed = b.fixed});
    }
    conflicts_ = std::make_unique<ConflictLists>(lifetimes, kMaxConflicts);
    if (!conflicts_->complete()) return;
    const bool fixed = std::ranges::any_of(
        component_.blocks, [](const ArenaBlock& b) { return b.fixed != PlanBlock::kAnywhere; });
    if (component_.blocks.size() <= kMaxExactBlocks && !fixed) {
      exact_ = std::make_unique<CanonicalSearch>(component_, *conflicts_);
    }
    ejection_ = std::make_unique<GuidedEjection>(*conflicts_, std::move(blocks), options_.seed);
  }

  uint64_t Eject(uint64_t max_effort, const std::function<bool()>& more) {
    const uint64_t before = ejection_->looks();
    const uint64_t looks =
        std::min(max_effort / kEffortPerLook, std::max(kLeastLooks, before / kEjectionSteps));
    ejection_->Step(goal_, looks, more, &best_);
    const uint64_t effort = (ejection_->looks() - before) * kEffortPerLook + 1;
    ejected_ += effort;
    return effort;
  }

  // One exact search.
  uint64_t Search(uint64_t max_work) {
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

  void Take(const std::vector<Bytes>& offsets) {
    searched_peak_ = 0;
    for (size_t i = 0; i < offsets.size(); ++i) {
      searched_peak_ = std::max(searched_peak_, offsets[i] + component_.blocks[i].size);
    }
    if (searched_peak_ < best_.peak) best_ = {offsets, searched_peak_};
  }

  LifetimeArena component_;
  Bytes goal_;
  const PlannerOptions& options_;
  GreedyPlan best_;
  Bytes unit_ = 0;  // all sizes are multiples of it
  bool proved_ = false;
  bool prepared_ = false;
  std::unique_ptr<ConflictLists> conflicts_;
  std::unique_ptr<CanonicalSearch> exact_;
  std::unique_ptr<GuidedEjection> ejection_;
  uint64_t round_ = 0;     // of exact search
  uint64_t searched_ = 0;  // effort
  Bytes searched_peak_;    // the lowest without ejection: where exact search aims from
  uint64_t ejected_ = 0;
};

// Works on the component that makes the peak, until that can't be lowered any more.
class ArenaPlanner {
 public:
  // `capacity`: of this arena; 0: none.
  ArenaPlanner(const LifetimeArena& arena, Bytes capacity, const PlannerOptions& options,
               Clock::time_point start)
      : options_(options), start_(start), plan_{arena.arena, 0, arena.lower_bound} {
    const Bytes goal = std::max(arena.lower_bound, capacity);
    for (LifetimeArena& component : SplitIntoComponents(arena)) {
      components_.emplace_back(std::move(component), goal, options);
    }
  }

  ArenaPlan Run(uint64_t max_effort, uint64_t* effort, std::vector<Bytes>* offsets) {
    if (components_.empty()) return plan_;
    Report(*effort);
    const std::function<bool()> more = [this] { return More(); };
    while (*effort < max_effort && More() && Highest().Unfinished()) {
      *effort += Highest().Step(options_.effort - *effort, more);
      Report(*effort);
    }
    for (const ComponentPlanner& planner : components_) Finish(planner, offsets);
    return plan_;
  }

 private:
  bool More() const {
    if (options_.stop && *options_.stop) return false;
    if (options_.seconds <= 0) return true;
    return std::chrono::duration<double>(Clock::now() - start_).count() <= options_.seconds;
  }

  // Of equals the one that took the least effort so far.
  ComponentPlanner& Highest() {
    return *std::ranges::max_element(components_, {}, [](const ComponentPlanner& planner) {
      return std::pair(planner.best().peak, ~planner.effort());
    });
  }

  void Finish(const ComponentPlanner& planner, std::vector<Bytes>* offsets) {
    const std::vector<ArenaBlock>& blocks = planner.component().blocks;
    for (size_t i = 0; i < blocks.size(); ++i) {
      (*offsets)[blocks[i].block] = planner.best().offsets[i];
    }
    plan_.peak = std::max(plan_.peak, planner.best().peak);
    // A goal that was raised is a proof for this component, and so for the arena.
    if (planner.proved()) plan_.lower_bound = std::max(plan_.lower_bound, planner.goal());
  }

  void Report(uint64_t effort) {
    if (options_.progress) options_.progress({Highest().best().peak, Highest().goal(), effort});
  }

  const PlannerOptions& options_;
  Clock::time_point start_;
  ArenaPlan plan_;
  std::vector<ComponentPlanner> components_;
};

}  // namespace

Plan PlanLifetimes(const LifetimeProblem& problem, const PlannerOptions& options) {
  const Clock::time_point start = Clock::now();
  Plan plan;
  plan.offsets.resize(problem.blocks.size());
  uint64_t effort = 0;
  const std::vector<LifetimeArena> arenas = SplitIntoArenas(problem);
  plan.arenas.resize(arenas.size());
  PlanToFit(arenas.size(), options.capacity, [&](size_t i, Bytes capacity, bool greedily) {
    ArenaPlanner planner(arenas[i], capacity, options, start);
    plan.arenas[i] = planner.Run(greedily ? 0 : options.effort, &effort, &plan.offsets);
    return plan.arenas[i].peak;
  });
  for (const ArenaPlan& arena : plan.arenas) {
    plan.peak += arena.peak;
    plan.lower_bound += arena.lower_bound;
  }
  return plan;
}

}  // namespace graphkit
