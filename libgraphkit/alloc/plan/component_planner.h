// Lowers the peak of one component's plan, step by step: by exact search and by guided ejection in
// turn. Both know only which blocks conflict, and sections: so the blocks may have lifetimes, or
// the order of a graph.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "libgraphkit/alloc/plan/canonical_search.h"
#include "libgraphkit/alloc/plan/conflicts.h"
#include "libgraphkit/alloc/plan/greedy.h"
#include "libgraphkit/alloc/plan/guided_ejection.h"
#include "libgraphkit/alloc/plan/planner.h"

namespace graphkit {

class ComponentPlanner {
 public:
  // `goal`: no peak below it is of use. `plan`: to begin with. `conflicts`: complete, and outlives
  // this; null: those of the blocks' lifetimes.
  ComponentPlanner(LifetimeArena component, Bytes goal, const PlannerOptions& options,
                   GreedyPlan plan, const ConflictLists* conflicts = nullptr);

  // True if there is more to be tried.
  bool Unfinished() const {
    if (best_.peak <= goal_) return false;
    return !prepared_ || exact_ || (!ejections_.empty() && ejected_ < AllEjection());
  }

  // Takes at most so much effort, roughly; returns what it took.
  uint64_t Step(uint64_t max_effort, const std::function<bool()>& more);

  // No plan below it is possible, or of use.
  Bytes goal() const { return goal_; }
  bool proved() const { return proved_; }  // that it isn't possible
  uint64_t effort() const { return searched_ + ejected_; }
  const LifetimeArena& component() const { return component_; }
  const GreedyPlan& best() const { return best_; }

 private:
  uint64_t AllEjection() const;
  void Prepare();
  uint64_t Eject(uint64_t max_effort, const std::function<bool()>& more);
  uint64_t Search(uint64_t max_work);
  void Take(const std::vector<Bytes>& offsets);

  LifetimeArena component_;
  Bytes goal_;
  const PlannerOptions& options_;
  GreedyPlan best_;
  Bytes unit_ = 0;  // all sizes are multiples of it
  bool proved_ = false;
  bool prepared_ = false;
  const ConflictLists* conflicts_;
  std::unique_ptr<ConflictLists> own_conflicts_;
  std::unique_ptr<CanonicalSearch> exact_;
  std::vector<GuidedEjection> ejections_;  // in turn
  uint64_t round_ = 0;                     // of exact search
  uint64_t searched_ = 0;                  // effort
  Bytes searched_peak_;  // the lowest without ejection: where exact search aims from
  uint64_t ejected_ = 0;
  size_t steps_ = 0;  // of ejection
};

}  // namespace graphkit
