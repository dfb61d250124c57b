// The search of several arenas for one capacity: each is planned greedily, and only if they don't
// fit together are they searched, one after the other, until they do.
#pragma once

#include <concepts>
#include <cstddef>
#include <vector>

#include "libgraphkit/units.h"

namespace graphkit {

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
