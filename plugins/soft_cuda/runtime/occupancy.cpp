// How many blocks and clusters of a kernel are on the device at once.
#include "plugins/soft_cuda/runtime/params.h"
#include "plugins/soft_cuda/runtime/start.h"
#include "runtime_impl.h"

namespace graphkit::soft::runtime {

cudaError_t OccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* func,
                                                               int block, size_t dynamic,
                                                               unsigned int flags) {
  CUfunction function = FunctionOf(func);
  if (function == nullptr) return NotAKernel(func);
  return ToRuntime(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block,
                                                                        dynamic, flags));
}

cudaError_t OccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* func, int block,
                                                      size_t dynamic) {
  return OccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, func, block, dynamic, 0);
}

cudaError_t OccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* func, int blocks,
                                                  int block) {
  CUfunction function = FunctionOf(func);
  if (function == nullptr) return NotAKernel(func);
  return ToRuntime(cuOccupancyAvailableDynamicSMemPerBlock(bytes, function, blocks, block));
}

cudaError_t OccupancyMaxPotentialClusterSize(int* size, const void* func,
                                             const cudaLaunchConfig_t* config) {
  CUfunction function = FunctionOf(func);
  if (function == nullptr) return NotAKernel(func);
  if (config == nullptr) return cudaErrorInvalidValue;
  const CUlaunchConfig c = ToDriver(*config);
  return ToRuntime(cuOccupancyMaxPotentialClusterSize(size, function, &c));
}

cudaError_t OccupancyMaxActiveClusters(int* clusters, const void* func,
                                       const cudaLaunchConfig_t* config) {
  CUfunction function = FunctionOf(func);
  if (function == nullptr) return NotAKernel(func);
  if (config == nullptr) return cudaErrorInvalidValue;
  const CUlaunchConfig c = ToDriver(*config);
  return ToRuntime(cuOccupancyMaxActiveClusters(clusters, function, &c));
}

}  // namespace graphkit::soft::runtime
