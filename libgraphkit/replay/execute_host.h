// Executes a graph with real memory under a placement, in legal orders that a device would hardly
// ever take: a placement that isn't safe destroys what some node wrote, and is found out.
//
// Every node writes canaries over what it writes and checks those that it reads; what it touched it
// checks again when it ends; and what takes bytes over checks that none needs them any more.
// In each order some nodes, chosen at random, are held back as long as anything else can run: what
// isn't ordered after them runs before them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libgraphkit/replay/execution_program.h"

namespace graphkit {

struct ExecutionOptions {
  uint32_t orders = 100;
  uint64_t seed = 1;     // of the first order; the next ones count up
  uint32_t threads = 0;  // that execute orders side by side; 0: one for each core
};

// Blocks that destroyed one another's bytes; `earlier` in capture order. What is missing is
// last_use (of `earlier`) before first_use (of `later`).
struct ExecutionFault {
  uint64_t seed = 0;  // of the order that found it
  UnsafePair pair;
  bool operator==(const ExecutionFault&) const = default;
};

struct GraphExecution {
  GraphId graph;
  std::string on = "host";  // where: host, soft, cuda
  uint32_t orders = 0;
  uint64_t seed = 0;                   // of the first order
  uint64_t nodes = 0;                  // executed, in all orders
  uint64_t checks = 0;                 // canaries looked at, in all orders
  std::vector<ExecutionFault> faults;  // the first of each order that found one
  uint64_t left_out = 0;               // partial edges that the device was not given
  std::string failed;                  // why it could not be executed; empty: it was
  // On a GPU: the shortest launch, in seconds, and that of the same graph as it was placed when it
  // was recorded. 0: not measured.
  double launch_seconds = 0;
  double recorded_launch_seconds = 0;
  bool operator==(const GraphExecution&) const = default;
};

// The same options give the same result, however many threads there are.
GraphExecution ExecuteOnHost(const Program& program, const ExecutionOptions& options);

}  // namespace graphkit
