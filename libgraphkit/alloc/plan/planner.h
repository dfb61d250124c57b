// Places the blocks of a problem so that the highest byte used is low: greedily first, then, where
// that leaves a gap to the lower bound, by exact search. Anytime: there is always a plan, it only
// gets better.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "libgraphkit/model/plan_problem.h"
#include "libgraphkit/units.h"

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

// The search of several arenas for one capacity: each is planned greedily, and only if they don't
// fit together are they searched, one after the other, until they do.
//
// `plan(i, capacity, greedily)` plans arena i, no worse than the time before, and returns its peak.
// A capacity of 0: the least is searched for.
template <std::invocable<size_t, Bytes, bool> Plan>
void PlanToFit(size_t arenas, Bytes capacity, const Plan& plan) {
  if (capacity == 0 || arenas == 1) {
    for (size_t i = 0; i < arenas; ++i) plan(i, capacity, false);
    return;
  }
  std::vector<Bytes> peaks;
  Bytes total = 0;
  for (size_t i = 0; i < arenas; ++i) total += peaks.emplace_back(plan(i, Bytes{0}, true));
  for (size_t i = 0; i < arenas && total > capacity; ++i) {
    const Bytes others = total - peaks[i];
    total = others + plan(i, capacity > others ? capacity - others : 0, false);
  }
}

}  // namespace graphkit
