#include "libgraphkit/replay/execute.h"

#include <dlfcn.h>

#include "libgraphkit/parallel.h"

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

struct OrderOutcome {
  uint64_t checks = 0;
  uint64_t nodes = 0;
  uint64_t left_out = 0;
  std::optional<ExecutionFault> fault;
  std::string failed;
};

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

graphkit_job_outcome DeviceExecutor::Run(const graphkit_job& job) const {
  graphkit_job_outcome outcome{};
  table_->run(executor_.get(), &job, &outcome);
  return outcome;
}

JobOptions DeviceExecutor::Jobs() const {
  const bool partial = table_->programmatic(executor_.get()) != 0;
  return {.partial = partial ? PartialEdges::kBetweenKernels : PartialEdges::kNone,
          .whole = !options_.host_nodes,
          .held_us = kHeldMicroseconds};
}

double DeviceExecutor::Time(const Facts& facts, const Program& program) const {
  if (options_.host_nodes) return 0;
  JobOptions job_options = Jobs();
  job_options.held_us = 0;
  const ExecutionJob job = MakeJob(facts, program, job_options);
  const graphkit_job_outcome outcome = Run(job.Job(kTimedLaunches));
  return outcome.error[0] == '\0' ? outcome.seconds : 0;
}

GraphExecution Execute(const Facts& facts, const Program& program, const Executor& executor) {
  std::vector<OrderOutcome> outcomes(executor.options.orders);
  const DeviceExecutor* device = executor.device;
  const JobOptions jobs =
      device == nullptr ? JobOptions{.partial = PartialEdges::kAll} : device->Jobs();
  // The host puts a job in order itself: where no bodies are chosen from, one serves all orders.
  std::optional<ExecutionJob> only;
  if (device == nullptr && program.bodies.empty()) only = MakeJob(facts, program, jobs);
  const size_t threads = executor.options.threads == 0 ? Cores() : executor.options.threads;
  ParallelFor(executor.options.orders, device == nullptr ? threads : 1, [&](size_t i) {
    JobOptions options = jobs;
    options.seed = executor.options.seed + i;
    const std::optional<ExecutionJob> own =
        only ? std::nullopt : std::optional(MakeJob(facts, program, options));
    const ExecutionJob& job = only ? *only : *own;
    const graphkit_job_outcome outcome =
        device == nullptr ? RunOnHost(job, options.seed) : device->Run(job.Job(1));
    outcomes[i] = {outcome.checks, job.executed, job.left_out, {}, outcome.error};
    const bool destroyed = outcome.faulty != 0 && outcome.found != 0;
    if (destroyed) outcomes[i].fault = FaultOf(program, job, outcome, options.seed);
  });
  GraphExecution execution{.on = device == nullptr ? "host" : device->name(),
                           .orders = executor.options.orders,
                           .seed = executor.options.seed};
  for (const OrderOutcome& outcome : outcomes) {
    execution.checks += outcome.checks;
    execution.nodes += outcome.nodes;
    execution.left_out = outcome.left_out;
    if (outcome.fault) execution.faults.push_back(*outcome.fault);
    if (execution.failed.empty()) execution.failed = outcome.failed;
  }
  return execution;
}

}  // namespace graphkit
