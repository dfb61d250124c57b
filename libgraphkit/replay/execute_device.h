// Executes a graph on a device, through plugins/cuda_exec: rebuilt as a CUDA graph for each order,
// with kernels, or host functions, that write and check canaries in place of the recorded nodes.
#pragma once

#include <memory>
#include <string>

#include "libgraphkit/model/executor_abi.h"
#include "libgraphkit/replay/execute_host.h"
#include "libgraphkit/replay/execution_job.h"
#include "libgraphkit/result.h"

namespace graphkit {

class DeviceExecutor {
 public:
  struct Options {
    std::string plugin;       // a path
    std::string driver;       // a path, or libcuda.so.1
    bool host_nodes = false;  // in place of kernels
    std::string name;         // of the device, for reports: "cuda", "soft"
  };
  static Result<DeviceExecutor> Open(const Options& options);

  // An error when the device can't run the graph.
  Result<GraphExecution> Execute(const Facts& facts, const Program& program,
                                 const ExecutionOptions& options) const;
  // The shortest of some launches with nothing held back, in seconds.
  Result<double> Time(const Facts& facts, const Program& program) const;

  // One job; outcome.error says why it could not run.
  graphkit_job_outcome Run(const graphkit_job& job) const;
  // The options of jobs for the device.
  JobOptions Jobs() const;

  const std::string& name() const { return options_.name; }
  // True if its times mean something: kernels, not host functions.
  bool timed() const { return !options_.host_nodes; }

 private:
  Options options_;
  std::shared_ptr<void> library_;
  const graphkit_executor_table* table_ = nullptr;
  std::shared_ptr<void> executor_;
};

}  // namespace graphkit
