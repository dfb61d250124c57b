// A graph's blocks as plain lifetimes over capture order. Whatever conflicts overlaps; so does some
// that wouldn't have to, unless the graph has one stream.
//
//     born at its place in capture order; ends after the last birth that it conflicts with
#pragma once

#include <cstdint>
#include <span>

#include "libgraphkit/alloc/plan/placed_conflicts.h"
#include "libgraphkit/analysis/lanes.h"
#include "libgraphkit/model/plan_problem.h"

namespace graphkit {

// One past the last item in capture order that doesn't come after this one.
uint32_t EndInCaptureOrder(const Lanes& lanes, const PlacedConflicts& conflicts, uint32_t item);

// One block for each item, in one arena. `fixed`: by item.
LifetimeProblem LifetimesInCaptureOrder(const Lanes& lanes, const PlacedConflicts& conflicts,
                                        std::span<const Bytes> fixed, Bytes alignment);

}  // namespace graphkit
