// Executes a graph with real memory under a placement, in legal orders that a device would hardly
// ever take: a placement that isn't safe destroys what some node wrote, and is found out. The graph
// is rebuilt as a CUDA graph for each order, with kernels, or host functions, in place of the
// recorded nodes.
//
// Every node writes canaries over what it writes and checks those that it reads; what it touched it
// checks again when it ends. In each order some nodes, chosen at random, are held back as long as
// anything else can run: what isn't ordered after them runs before them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "libgraphkit/replay/execution.h"
#include "libgraphkit/replay/replay_trace.h"
#include "tools/graphkit/replay/execution_job.h"

namespace graphkit {

struct ExecutionOptions {
  uint32_t orders = 100;
  uint64_t seed = 1;  // of the first order; the next ones count up
};

// Where jobs run.
struct Executor {
  std::string name;
  JobOptions jobs;
  // One job; outcome.error says why it could not run.
  std::function<graphkit_job_outcome(const ExecutionJob& job, uint64_t seed)> run;
};

GraphExecution Execute(const Facts& facts, const Program& program, const Executor& executor,
                       const ExecutionOptions& options);

// The replay's placements without segments, by graph.
std::vector<GraphExecution> ExecuteReplay(const Facts& facts, const PolicyReplay& replay,
                                          const Executor& executor,
                                          const ExecutionOptions& options);

}  // namespace graphkit
