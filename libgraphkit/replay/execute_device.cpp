#include "libgraphkit/replay/execute_device.h"

#include <dlfcn.h>

#include <array>

namespace graphkit {
namespace {

constexpr uint32_t kHeldMicroseconds = 20;
constexpr uint32_t kTimedLaunches = 20;

Error Failed(const std::string& message, const char* hint) {
  return {.message = message, .hint = hint};
}

// The step that wrote the canary.
uint32_t WriterOf(const ExecutionJob& job, uint64_t canary) {
  const uint64_t node = (canary >> 32) - 1;
  return node < job.steps.size() ? job.steps[node] : ExecutionJob::kNone;
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
  const NodeId found = node_of(job.steps[outcome.node]);
  const NodeId wrote = node_of(WriterOf(job, outcome.found));
  ExecutionFault fault{.seed = seed};
  const bool first = !other.valid() || own < other;
  fault.pair = {first ? own : other, first ? other : own, first ? found : wrote,
                first ? wrote : found};
  return fault;
}

}  // namespace

Result<DeviceExecutor> DeviceExecutor::Open(const Options& options) {
  DeviceExecutor executor;
  executor.options_ = options;
  executor.library_ = std::shared_ptr<void>(dlopen(options.plugin.c_str(), RTLD_NOW | RTLD_LOCAL),
                                            [](void* library) {
                                              if (library != nullptr) dlclose(library);
                                            });
  if (executor.library_ == nullptr) {
    const char* why = dlerror();
    return Failed(std::string("the plugin can't be loaded: ") + (why != nullptr ? why : ""),
                  "build graphkit with the CUDA headers, or use --device host");
  }
  const auto function = reinterpret_cast<graphkit_executor_function>(
      dlsym(executor.library_.get(), GRAPHKIT_EXECUTOR_NAME));
  executor.table_ = function != nullptr ? function() : nullptr;
  if (executor.table_ == nullptr || executor.table_->abi != GRAPHKIT_EXECUTOR_ABI) {
    return Failed(options.plugin + " is of another version of graphkit", "build both together");
  }
  std::array<char, 256> error{};
  void* opened = executor.table_->open(options.driver.c_str(), options.host_nodes ? 1 : 0,
                                       error.data(), error.size());
  if (opened == nullptr) return Failed(error.data(), "use --device soft or --device host");
  executor.executor_ = std::shared_ptr<void>(opened, executor.table_->close);
  return executor;
}

Result<GraphExecution> DeviceExecutor::Execute(const Facts& facts, const Program& program,
                                               const ExecutionOptions& options) const {
  GraphExecution execution{.on = options_.name, .orders = options.orders, .seed = options.seed};
  JobOptions job_options = Jobs();
  for (uint32_t i = 0; i < options.orders; ++i) {
    job_options.seed = options.seed + i;
    const ExecutionJob job = MakeJob(facts, program, job_options);
    const graphkit_job_outcome outcome = Run(job.Job(1));
    if (outcome.error[0] != '\0') return Failed(outcome.error, "use --device host");
    execution.nodes += job.executed;
    execution.checks += outcome.checks;
    execution.left_out = job.left_out;
    const bool unwritten = outcome.found == 0;
    if (outcome.faulty != 0 && !unwritten) {
      execution.faults.push_back(FaultOf(program, job, outcome, job_options.seed));
    }
  }
  return execution;
}

graphkit_job_outcome DeviceExecutor::Run(const graphkit_job& job) const {
  graphkit_job_outcome outcome{};
  table_->run(executor_.get(), &job, &outcome);
  return outcome;
}

JobOptions DeviceExecutor::Jobs() const {
  return {.programmatic = table_->programmatic(executor_.get()) != 0,
          .whole = !options_.host_nodes,
          .held_us = kHeldMicroseconds};
}

Result<double> DeviceExecutor::Time(const Facts& facts, const Program& program) const {
  JobOptions job_options = Jobs();
  job_options.held_us = 0;
  const graphkit_job_outcome outcome =
      Run(MakeJob(facts, program, job_options).Job(kTimedLaunches));
  if (outcome.error[0] != '\0') return Failed(outcome.error, "use --device host");
  return outcome.seconds;
}

}  // namespace graphkit
