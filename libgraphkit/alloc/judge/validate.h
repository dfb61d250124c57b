// Checks plans and replays: whether a plan is one of the trace, where it puts the blocks of a
// graph, and what its launches leave for later ones. Shares no code with the policies and the
// planner.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/analysis/launches/borrow.h"
#include "libgraphkit/analysis/memory/block_order.h"
#include "libgraphkit/model/plan_problem.h"
#include "libgraphkit/model/planned_memory.h"
#include "libgraphkit/result.h"
#include "libgraphkit/units.h"

namespace graphkit {

// Blocks that conflict may not share bytes. One sweep in capture order over a map from addresses to
// who lay there last. A block that lies where another one lay must come after it; since "before" is
// transitive, the last one is enough. Blocks of child graphs and bodies, which need not come in
// capture order, stay in the map.
struct PlacedBlock {
  BlockId block;
  Bytes offset = 0;
  Bytes size = 0;
  bool operator==(const PlacedBlock&) const = default;
};

// Two blocks that share bytes although nothing orders them; `later` is later in capture order.
// The missing order is last_use (a marker of `earlier`) before first_use (a node that touches
// `later` first); none: what has no node, the end of a block that isn't freed, an allocation point.
struct UnsafePair {
  BlockId earlier;
  BlockId later;
  NodeId last_use = {};
  NodeId first_use = {};
  bool operator==(const UnsafePair&) const = default;
};

// `blocks`: of one pool of one graph, in capture order. Complete when empty.
std::vector<UnsafePair> ValidatePlacements(const BlockOrder& order,
                                           std::span<const PlacedBlock> blocks);

// Of graphs one after the other in one pool, the blocks of each: which lie on a block of an earlier
// graph that stays. It stays if its free wasn't requested before the first block of theirs was
// allocated; or before that block was, by last use, and their graph's uses of it end before.
std::vector<UnsafePair> ValidateSharers(const BlockOrder& order,
                                        std::span<const std::span<const PlacedBlock>> graphs);

// Where a plan of a trace is unsafe by a rule, inside of each graph, arena after arena. What the
// graphs of a sequence do to each other is ValidateSequence's.
std::vector<UnsafePair> VerifyPlan(const Facts& facts, const PlannedMemory& plan, MarkerRule rule);

// Checks a plan of graphs that are launched one after the other
// (libgraphkit/alloc/plan/plan_trace.h) by going through two rounds of launches: what a launch
// leaves for later ones must not be overwritten before the last of them has run.
// VerifyPlan checks the inside of a launch.
//
// An output that is destroyed although it is needed.
struct DestroyedOutput {
  BlockId output;
  BlockId by;     // a block of another graph, in the same bytes
  GraphId taker;  // that takes the output as an input; none: any may read it
  auto operator<=>(const DestroyedOutput&) const = default;
};

// Sorted. Empty for a plan without a sequence.
std::vector<DestroyedOutput> ValidateSequence(const Facts& facts, const PlannedMemory& plan);

// Checks that a plan is one of this trace. A plan comes from a file that may be of another trace,
// or be made up: what takes a plan (ReplayPlan, VerifyPlan, ValidateSequence) relies on this having
// passed.
//
// The error says what of the trace the plan doesn't hold, or holds twice, in another pool or with
// too few bytes, and what it holds that isn't in the trace: blocks, graphs, pools, launches.
Result<void> PlanFits(const Facts& facts, const PlannedMemory& plan);

// A fault of a plan of lifetimes.
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

// Checks what is said to be free for a while: shares no code with what finds it
// (libgraphkit/analysis/launches/borrow.cpp, libgraphkit/alloc/plan/plan_borrow.cpp). Each block
// that lies in borrowed bytes is cut where an access begins or ends, and of each piece each read
// needs a write: one that covers the piece, in every launch in which the read runs, and that has
// ended before the read starts.
//
// A block that is needed while its bytes are borrowed. None: no segment has these bytes, two ranges
// overlap, or something touches them where no block lies.
struct WrongBorrow {
  BlockId block;
  Address at = 0;  // the range's begin: an address, or an offset in an arena
  bool operator==(const WrongBorrow&) const = default;
};

// `looks`, if it isn't null, gets how many blocks and segments were looked at.
std::vector<WrongBorrow> ValidateBorrow(const Facts& facts, std::span<const PoolBorrow> pools,
                                        uint64_t* looks = nullptr);
// Of plan.borrow.
std::vector<WrongBorrow> ValidatePlanBorrow(const Facts& facts, const PlannedMemory& plan);
// Of ranges like plan.borrow_at, by the last uses of blocks (MarkerRule::kLastUse); of what
// escaped, by its free.
std::vector<WrongBorrow> ValidateBorrowAt(const Facts& facts, const PlannedMemory& plan,
                                          std::span<const BorrowAt> ranges);

}  // namespace graphkit
