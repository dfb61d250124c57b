// A device that executes jobs, by the plugin for it (plugins/cuda_exec).
#pragma once

#include <string>

#include "libgraphkit/result.h"
#include "tools/graphkit/replay/execute.h"

namespace graphkit {

struct DeviceOptions {
  std::string plugin;       // a path
  std::string driver;       // a path, or libcuda.so.1
  bool host_nodes = false;  // in place of kernels
  std::string name;         // of the device, for reports: "cuda", "soft"
};

// The plugin stays loaded, and the device open, as long as the executor lives.
Result<Executor> OpenDevice(const DeviceOptions& options);

}  // namespace graphkit
