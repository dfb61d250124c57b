// Runs jobs (tools/graphkit/replay/executor_abi.h) on one device.
#pragma once

#include <string>
#include <vector>

#include "plugins/cuda_exec/canary.h"
#include "plugins/cuda_exec/driver.h"

namespace graphkit::exec {

class Executor {
 public:
  // Null: not possible here, and `error` says why.
  static Executor* Open(const char* driver, bool host_nodes, std::string* error);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  bool programmatic() const { return programmatic_; }
  // Empty: it ran.
  std::string Run(const graphkit_job& job, graphkit_job_outcome* outcome);

 private:
  Executor() = default;
  std::string Start(const char* path);
  std::string LoadKernels(int major);

  Driver driver_;
  bool host_nodes_ = false;
  bool programmatic_ = false;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;
  CUmodule module_ = nullptr;
  CUfunction canary_ = nullptr;
  CUfunction early_ = nullptr;
  CUfunction waits_ = nullptr;

  friend class RebuiltGraph;
};

}  // namespace graphkit::exec
