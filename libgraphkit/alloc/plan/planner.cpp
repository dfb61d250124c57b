#include "libgraphkit/alloc/plan/planner.h"

#include <chrono>
#include <utility>

#include "libgraphkit/alloc/plan/component_planner.h"
#include "libgraphkit/alloc/plan/conflicts.h"
#include "libgraphkit/alloc/plan/greedy.h"

namespace graphkit {
namespace {

using Clock = std::chrono::steady_clock;

// Works on the component that makes the peak, until that can't be lowered any more.
class ArenaPlanner {
 public:
  // `capacity`: of this arena; 0: none.
  ArenaPlanner(const LifetimeArena& arena, Bytes capacity, const PlannerOptions& options,
               Clock::time_point start)
      : options_(options), start_(start), plan_{arena.arena, 0, arena.lower_bound} {
    const Bytes goal = std::max(arena.lower_bound, capacity);
    for (LifetimeArena& component : SplitIntoComponents(arena)) {
      GreedyPlan plan = PlaceByPortfolio(component);
      components_.emplace_back(std::move(component), goal, options, std::move(plan));
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
    for (size_t i = 0; i < blocks.size(); ++i)
      (*offsets)[blocks[i].block] = planner.best().offsets[i];
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
