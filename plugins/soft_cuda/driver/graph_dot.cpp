// Writing a graph as DOT.
#include "plugins/soft_cuda/model/graph_dot.h"

#include <fstream>

#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"

namespace graphkit::soft::driver {

CUresult GraphDebugDotPrint(CUgraph handle, const char* path, unsigned int flags) {
  constexpr unsigned kFlags = (CU_GRAPH_DEBUG_DOT_FLAGS_CONDITIONAL_NODE_PARAMS << 1) - 1;
  const Lock lock = LockDevice();
  const auto* graph = Resolve<Graph>(handle);
  if (graph == nullptr || path == nullptr || (flags & ~kFlags) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  std::ofstream file(path);
  file << DotText(*graph, flags);
  file.close();
  return file ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}

}  // namespace graphkit::soft::driver
