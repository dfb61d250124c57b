// Places the blocks of a problem so that the highest byte used is low: greedily first, then, where
// that leaves a gap to the lower bound, by exact search. Anytime: there is always a plan, it only
// gets better.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "libgraphkit/model/plan_problem.h"

namespace graphkit {

struct PlanProgress {
  Bytes peak = 0;         // of the best plan so far, of the component that is worked on
  Bytes lower_bound = 0;  // of the same
  uint64_t effort = 0;    // spent so far
};

struct PlannerOptions {
  // How much exact search may do, in blocks looked at: about 7·10^8 a second.
  uint64_t effort = 6'000'000'000;
  double seconds = 0;  // stop after that; 0: no limit. The plan then depends on the machine
  Bytes capacity = 0;  // of all arenas together: a plan that fits is as good as the least; 0: none
  uint64_t seed = 1;
  const std::atomic<bool>* stop = nullptr;  // becomes true: stop soon
  std::function<void(const PlanProgress&)> progress = {};
};

// The same problem and options give the same plan, unless `seconds` or `stop` cut it short.
Plan PlanLifetimes(const LifetimeProblem& problem, const PlannerOptions& options = {});

}  // namespace graphkit
