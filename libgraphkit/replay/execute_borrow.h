// Executes what a plan or a pool lends (libgraphkit/alloc/plan/plan_borrow.h): the graphs that
// share its memory are launched one after the other, twice, and what borrows writes canaries over
// the lent bytes as early as it may and looks at them as late as it may.
//
//     inputs │ graph 0 │ lend │ graph 1 │ lend │ graph 0 │ lend │ graph 1 │ lend
//                  └ at a node: from all that the node waits for to what waits for the last node
//                    that the bytes are lent for
//
// Found is who writes lent bytes meanwhile, and whose bytes are gone that are needed and would be
// there if nothing had been lent.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "libgraphkit/model/planned_memory.h"
#include "libgraphkit/replay/execute.h"

namespace graphkit {

struct LentRange {
  PoolId pool;
  Address at = 0;  // an offset in the arena of a plan, or an address of a pool
  Bytes size = 0;
  NodeId node = {};  // lent while it and nodes after it run; none: between launches
  bool operator==(const LentRange&) const = default;
};

// A block that needs lent bytes.
struct LentFault {
  uint64_t seed = 0;   // of the order that found it
  uint32_t range = 0;  // in BorrowExecution::ranges
  BlockId block;
  NodeId node;  // that writes the block meanwhile, or misses it; none: it is gone after a launch
  bool operator==(const LentFault&) const = default;
};

struct BorrowExecution {
  std::string on = "host";  // where: host, soft, cuda
  uint32_t orders = 0;
  uint64_t seed = 0;              // of the first order
  uint64_t checks = 0;            // canaries looked at, in all orders
  std::vector<LentRange> ranges;  // none: nothing is lent
  std::vector<LentFault> faults;  // the first of each order that found one
  std::string failed;             // why it could not be executed; empty: it was
  bool operator==(const BorrowExecution&) const = default;
};

// plan.borrow and plan.borrow_at; the plan fits the trace (PlanFits).
// `bases`: what is added to offsets to tell them, by arena; none: nothing.
BorrowExecution ExecuteBorrow(const Facts& facts, const PlannedMemory& plan, MarkerRule rule,
                              const Executor& executor, std::span<const Address> bases = {});

}  // namespace graphkit
