// Executes a graph with real memory under a placement, in legal orders that a device would hardly
// ever take: a placement that isn't safe destroys what some node wrote, and is found out. On the
// host, or on a device through plugins/cuda_exec: rebuilt as a CUDA graph for each order, with
// kernels, or host functions, in place of the recorded nodes.
//
// Every node writes canaries over what it writes and checks those that it reads; what it touched it
// checks again when it ends. In each order some nodes, chosen at random, are held back as long as
// anything else can run: what isn't ordered after them runs before them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "libgraphkit/model/executor_abi.h"
#include "libgraphkit/replay/execution_job.h"
#include "libgraphkit/result.h"

namespace graphkit {

struct ExecutionOptions {
  uint32_t orders = 100;
  uint64_t seed = 1;     // of the first order; the next ones count up
  uint32_t threads = 0;  // that execute orders side by side on the host; 0: one for each core
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

class DeviceExecutor {
 public:
  struct Options {
    std::string plugin;       // a path
    std::string driver;       // a path, or libcuda.so.1
    bool host_nodes = false;  // in place of kernels
    std::string name;         // of the device, for reports: "cuda", "soft"
  };
  static Result<DeviceExecutor> Open(const Options& options);

  // One job; outcome.error says why it could not run.
  graphkit_job_outcome Run(const graphkit_job& job) const;
  // The options of jobs for the device.
  JobOptions Jobs() const;
  // The shortest of some launches with nothing held back, in seconds. 0: it failed, or times mean
  // nothing, as of host functions.
  double Time(const Facts& facts, const Program& program) const;

  const std::string& name() const { return options_.name; }

 private:
  Options options_;
  std::shared_ptr<void> library_;
  const graphkit_executor_table* table_ = nullptr;
  std::shared_ptr<void> executor_;
};

// Where jobs run. `device`: null: on the host.
struct Executor {
  ExecutionOptions options;
  const DeviceExecutor* device = nullptr;
};

// The same options give the same result on the host, however many threads there are.
GraphExecution Execute(const Facts& facts, const Program& program, const Executor& executor);

}  // namespace graphkit
