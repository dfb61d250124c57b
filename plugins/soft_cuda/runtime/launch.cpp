// Launches and kernels.
#include "plugins/soft_cuda/runtime/forward.h"
#include "plugins/soft_cuda/runtime/params.h"
#include "runtime_impl.h"

namespace graphkit::soft::runtime {

cudaError_t FromLaunch(CUresult result, dim3 grid, dim3 block) {
  const bool empty =
      grid.x == 0 || grid.y == 0 || grid.z == 0 || block.x == 0 || block.y == 0 || block.z == 0;
  const bool large = block.x > 1024 || block.y > 1024 || block.z > 64 ||
                     block.x * block.y * block.z > 1024 || grid.y > 65535 || grid.z > 65535;
  const bool own = kRuntimeVersion < 13000 && (empty || large);
  return result == CUDA_ERROR_INVALID_VALUE && own ? cudaErrorInvalidConfiguration
                                                   : ToRuntime(result);
}

cudaError_t LaunchKernel(const void* func, dim3 grid, dim3 block, void** args, size_t shared,
                         cudaStream_t stream) {
  CUfunction function = FunctionOf(func);
  if (function == nullptr) return NotAKernel(func);
  return FromLaunch(cuLaunchKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                   static_cast<unsigned>(shared), stream, args, nullptr),
                    grid, block);
}

cudaError_t LaunchCooperativeKernel(const void* func, dim3 grid, dim3 block, void** args,
                                    size_t shared, cudaStream_t stream) {
  CUfunction function = FunctionOf(func);
  if (function == nullptr) return NotAKernel(func);
  return FromLaunch(cuLaunchCooperativeKernel(function, grid.x, grid.y, grid.z, block.x, block.y,
                                              block.z, static_cast<unsigned>(shared), stream, args),
                    grid, block);
}

CUlaunchConfig ToDriver(const cudaLaunchConfig_t& config) {
  CUlaunchConfig c{};
  c.gridDimX = config.gridDim.x;
  c.gridDimY = config.gridDim.y;
  c.gridDimZ = config.gridDim.z;
  c.blockDimX = config.blockDim.x;
  c.blockDimY = config.blockDim.y;
  c.blockDimZ = config.blockDim.z;
  c.sharedMemBytes = static_cast<unsigned>(config.dynamicSmemBytes);
  c.hStream = config.stream;
  c.attrs = reinterpret_cast<CUlaunchAttribute*>(config.attrs);
  c.numAttrs = config.numAttrs;
  return c;
}

cudaError_t LaunchKernelExC(const cudaLaunchConfig_t* config, const void* func, void** args) {
  if (config == nullptr) return cudaErrorInvalidValue;
  CUfunction function = FunctionOf(func);
  if (function == nullptr) return NotAKernel(func);
  const CUlaunchConfig c = ToDriver(*config);
  return FromLaunch(cuLaunchKernelEx(&c, function, args, nullptr), config->gridDim,
                    config->blockDim);
}

cudaError_t FuncGetName(const char** name, const void* func) {
  CUfunction function = FunctionOf(func);
  return function != nullptr ? ToRuntime(cuFuncGetName(name, function)) : NotAKernel(func);
}

cudaError_t FuncGetParamInfo(const void* func, size_t index, size_t* offset, size_t* size) {
  CUfunction function = FunctionOf(func);
  return function != nullptr ? ToRuntime(cuFuncGetParamInfo(function, index, offset, size))
                             : NotAKernel(func);
}

cudaError_t GetFuncBySymbol(cudaFunction_t* out, const void* func) {
  if (out == nullptr) return cudaErrorInvalidValue;
  const CUkernel kernel = KernelOf(func);
  return kernel != nullptr ? ToRuntime(cuKernelGetFunction(out, kernel))
                           : cudaErrorInvalidDeviceFunction;
}

cudaError_t GetKernel(cudaKernel_t* out, const void* func) {
  if (out == nullptr) return cudaErrorInvalidValue;
  *out = reinterpret_cast<cudaKernel_t>(KernelOf(func));
  return *out != nullptr ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

cudaError_t FuncGetAttributes(cudaFuncAttributes* out, const void* func) {
  CUfunction f = FunctionOf(func);
  if (f == nullptr) return NotAKernel(func);
  if (out == nullptr) return cudaErrorInvalidValue;
  auto get = [f](CUfunction_attribute attribute) {
    int value = 0;
    cuFuncGetAttribute(&value, attribute, f);
    return value;
  };
  *out = {};
  out->sharedSizeBytes = static_cast<size_t>(get(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
  out->constSizeBytes = static_cast<size_t>(get(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES));
  out->localSizeBytes = static_cast<size_t>(get(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES));
  out->maxThreadsPerBlock = get(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  out->numRegs = get(CU_FUNC_ATTRIBUTE_NUM_REGS);
  out->ptxVersion = get(CU_FUNC_ATTRIBUTE_PTX_VERSION);
  out->binaryVersion = get(CU_FUNC_ATTRIBUTE_BINARY_VERSION);
  out->maxDynamicSharedSizeBytes = get(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  out->preferredShmemCarveout = get(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
  out->clusterDimMustBeSet = get(CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET);
  out->requiredClusterWidth = get(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH);
  out->requiredClusterHeight = get(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT);
  out->requiredClusterDepth = get(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH);
  out->clusterSchedulingPolicyPreference =
      get(CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE);
  out->nonPortableClusterSizeAllowed = get(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
  return cudaSuccess;
}

cudaError_t FuncSetAttribute(const void* func, cudaFuncAttribute attr, int value) {
  CUfunction function = FunctionOf(func);
  if (function == nullptr) return NotAKernel(func);
  return ToRuntime(cuFuncSetAttribute(function, static_cast<CUfunction_attribute>(attr), value));
}

cudaError_t KernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute, int value,
                                        int device) {
  return ToRuntime(cuKernelSetAttribute(As(attribute), value, As(kernel), device));
}

}  // namespace graphkit::soft::runtime
