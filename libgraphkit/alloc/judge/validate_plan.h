// Checks a plan against its problem. Shares no code with the planner.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libgraphkit/model/plan_problem.h"

namespace graphkit {

struct PlanViolation {
  enum class Kind : uint8_t {
    kOverlap,     // `block` and `other` conflict and share bytes
    kMisaligned,  // `block`'s offset isn't a multiple of its alignment
    kMoved,       // `block` isn't at its fixed offset
    kWrongPeak,   // an arena's peak, or the sum, isn't what the offsets give; `block` is the arena
    kMissing,     // the plan doesn't have an offset for each block
  };
  Kind kind = Kind::kOverlap;
  uint32_t block = 0;
  uint32_t other = 0;
  bool operator==(const PlanViolation&) const = default;
};

// Everything that is wrong, as far as it can be told: complete when empty. One sweep over the
// times, O(n log n).
std::vector<PlanViolation> ValidatePlan(const LifetimeProblem& problem, const Plan& plan);

// "block 3 overlaps block 7 at offset 4096".
std::string DescribeViolation(const PlanViolation& violation, const Plan& plan);

}  // namespace graphkit
