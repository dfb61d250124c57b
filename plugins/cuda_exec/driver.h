// The driver's functions that rebuilding a graph takes, from a library that is opened at run time.
#pragma once

#include <cuda.h>

#include <memory>
#include <string>

namespace graphkit::exec {

// clang-format off
#define GRAPHKIT_DRIVER_FUNCTIONS(X)                                                               \
  X(cuInit)                                                                                        \
  X(cuGetErrorName)                                                                                \
  X(cuDeviceGet) X(cuDeviceGetCount) X(cuDeviceGetAttribute) X(cuDevicePrimaryCtxRetain)           \
      X(cuDevicePrimaryCtxRelease) X(cuCtxSetCurrent) X(cuMemAlloc) X(cuMemFree) X(cuMemAllocHost) \
          X(cuMemFreeHost) X(cuMemcpyHtoD) X(cuMemcpyDtoH) X(cuMemsetD8) X(cuModuleLoadData)       \
              X(cuModuleUnload) X(cuModuleGetFunction) X(cuStreamCreate) X(cuStreamDestroy)        \
                  X(cuStreamSynchronize) X(cuGraphCreate) X(cuGraphDestroy)                        \
                      X(cuGraphAddKernelNode) X(cuGraphAddHostNode) X(cuGraphAddEmptyNode)         \
                          X(cuGraphAddDependencies) X(cuGraphGetEdges)                             \
                              X(cuGraphInstantiateWithFlags) X(cuGraphExecDestroy) X(cuGraphLaunch)
// clang-format on

// Members have the names that cuda.h gives to the functions of its own version.
struct Driver {
#define GRAPHKIT_MEMBER(name) decltype(&::name) name = nullptr;
  GRAPHKIT_DRIVER_FUNCTIONS(GRAPHKIT_MEMBER)
#undef GRAPHKIT_MEMBER
  std::shared_ptr<void> library;

  // False: not there, or too old; `error` says which function is missing.
  bool Open(const char* path, std::string* error);
  // Empty for success, otherwise "what: CUDA_ERROR_…".
  std::string Problem(CUresult result, const char* what) const;
};

}  // namespace graphkit::exec
