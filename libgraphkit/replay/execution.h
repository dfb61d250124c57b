// What comes of executing a graph with real memory under a placement (docs/replay.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libgraphkit/alloc/judge/validate.h"
#include "libgraphkit/ids.h"

namespace graphkit {

// Blocks that destroyed one another's bytes; `earlier` in capture order. What is missing is
// last_use (of `earlier`) before first_use (of `later`).
struct ExecutionFault {
  uint64_t seed = 0;  // of the order that found it
  UnsafePair pair;
  bool operator==(const ExecutionFault&) const = default;
};

struct GraphExecution {
  GraphId graph;
  std::string on;  // where: soft, cuda
  uint32_t orders = 0;
  uint64_t seed = 0;                   // of the first order
  uint64_t nodes = 0;                  // executed, in all orders
  uint64_t checks = 0;                 // canaries looked at, in all orders
  std::vector<ExecutionFault> faults;  // the first of each order that found one
  uint64_t left_out = 0;               // partial edges that the device was not given
  std::string failed;                  // why it could not be executed; empty: it was
  bool operator==(const GraphExecution&) const = default;
};

}  // namespace graphkit
