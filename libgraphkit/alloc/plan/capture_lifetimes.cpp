#include "libgraphkit/alloc/plan/capture_lifetimes.h"

#include <algorithm>

namespace graphkit {

uint32_t EndInCaptureOrder(const Lanes& lanes, const PlacedConflicts& conflicts, uint32_t item) {
  uint32_t end = item + 1;
  for (uint32_t lane = 0; lane < lanes.lanes(); ++lane) {
    const uint32_t exit = conflicts.Exit(item, lane);
    if (exit > 0) end = std::max(end, lanes.births(lane)[exit - 1] + 1);
  }
  return end;
}

LifetimeProblem LifetimesInCaptureOrder(const Lanes& lanes, const PlacedConflicts& conflicts,
                                        std::span<const Bytes> fixed, Bytes alignment) {
  LifetimeProblem problem;
  for (uint32_t item = 0; item < lanes.size(); ++item) {
    problem.blocks.push_back(
        {.size = lanes.weight(item), .alignment = alignment, .fixed = fixed[item]});
    problem.lifetimes.push_back({item, EndInCaptureOrder(lanes, conflicts, item)});
  }
  return problem;
}

}  // namespace graphkit
