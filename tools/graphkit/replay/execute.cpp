#include "tools/graphkit/replay/execute.h"

#include <algorithm>

namespace graphkit {
namespace {

// The step that wrote the canary.
uint32_t WriterOf(const ExecutionJob& job, uint64_t canary) {
  const uint64_t node = (canary >> 32) - 1;
  return node < job.steps.size() ? job.steps[node] : ExecutionJob::kNone;
}

// The last step that touches a block.
uint32_t LastUse(const ExecutionJob& job, uint32_t block) {
  uint32_t last = ExecutionJob::kNone;
  for (uint32_t node = 0; node < job.nodes.size(); ++node) {
    const auto first = job.touches.begin() + job.nodes[node].first_touch;
    const bool touches = std::any_of(first, first + job.nodes[node].touches,
                                     [&](const graphkit_touch& t) { return t.block == block; });
    if (touches && job.steps[node] != ExecutionJob::kNone) last = job.steps[node];
  }
  return last;
}

ExecutionFault FaultOf(const Program& program, const ExecutionJob& job,
                       const graphkit_job_outcome& outcome, uint64_t seed) {
  const auto node_of = [&](uint32_t step) {
    return step < program.steps.size() ? program.steps[step].node : NodeId();
  };
  const uint32_t block = job.touches[outcome.touch].block;
  const BlockId own = program.blocks[block].block;
  const auto writer = static_cast<uint32_t>(outcome.found & 0xffffffffu) - 1;
  const BlockId other = writer < program.blocks.size() ? program.blocks[writer].block : BlockId();
  // Blocks that outlive the graph are looked at when all nodes have ended.
  const bool outlived = job.steps[outcome.node] == ExecutionJob::kNone;
  const NodeId found = node_of(outlived ? LastUse(job, block) : job.steps[outcome.node]);
  const NodeId wrote = node_of(WriterOf(job, outcome.found));
  ExecutionFault fault{.seed = seed};
  const bool first = !other.valid() || own < other;
  fault.pair = {first ? own : other, first ? other : own, first ? found : wrote,
                first ? wrote : found};
  return fault;
}

}  // namespace

GraphExecution Execute(const Facts& facts, const Program& program, const Executor& executor,
                       const ExecutionOptions& options) {
  GraphExecution execution{.on = executor.name, .orders = options.orders, .seed = options.seed};
  for (uint64_t i = 0; i < options.orders; ++i) {
    JobOptions jobs = executor.jobs;
    jobs.seed = options.seed + i;
    const ExecutionJob job = MakeJob(facts, program, jobs);
    const graphkit_job_outcome outcome = executor.run(job, jobs.seed);
    execution.checks += outcome.checks;
    execution.nodes += job.executed;
    execution.left_out = job.left_out;
    const bool destroyed = outcome.faulty != 0 && outcome.found != 0;
    if (destroyed) execution.faults.push_back(FaultOf(program, job, outcome, jobs.seed));
    if (execution.failed.empty()) execution.failed = outcome.error;
  }
  return execution;
}

std::vector<GraphExecution> ExecuteReplay(const Facts& facts, const PolicyReplay& replay,
                                          const Executor& executor,
                                          const ExecutionOptions& options) {
  const Slices slices(facts.trace, facts.roots(), facts.blocks());
  const BlockOrder order = facts.Blocks(InfoOf(replay.policy).rule);
  std::vector<GraphExecution> executions;
  for (const GraphReplay& graph : replay.graphs) {
    std::vector<std::vector<PlacedBlock>> pools;
    for (const ReplayedPool& pool : graph.pools) pools.push_back(pool.arena);
    const Program program = MakeProgram(facts, slices.Of(graph.graph), order, pools);
    executions.push_back(Execute(facts, program, executor, options));
    executions.back().graph = graph.graph;
  }
  return executions;
}

}  // namespace graphkit
