// Kernels: names, argument layouts, attributes.
#include <algorithm>

#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/device/properties.h"
#include "plugins/soft_cuda/driver/rules/occupancy.h"

namespace graphkit::soft::driver {
namespace {

// The error of a null handle, by others' measurement; another wrong handle gives INVALID_HANDLE.
CUresult Wrong(CUfunction handle) {
  return handle == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
}

CUresult GiveName(const char** out, const Function* function) {
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *out = function->info.name.c_str();
  return CUDA_SUCCESS;
}

CUresult GiveParameter(const Function* function, size_t index, size_t* offset, size_t* size) {
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (!function->info.layout_known) return CUDA_ERROR_NOT_SUPPORTED;
  if (offset == nullptr || index >= function->info.parameters.size())
    return CUDA_ERROR_INVALID_VALUE;
  *offset = function->info.parameters[index].offset;
  if (size != nullptr) *size = function->info.parameters[index].size;
  return CUDA_SUCCESS;
}

int ConstantBytes(const Module& module) {
  uint64_t bytes = 0;
  for (const VariableInfo& variable : module.variable_infos) {
    if (variable.constant) bytes += variable.size;
  }
  return static_cast<int>(bytes);
}

// Code of PTX is compiled for the device that it is loaded on.
unsigned BinaryArchitecture(const Function& f) {
  const Context* context = CurrentContext();
  return f.module->ptx && context != nullptr ? context->gpu->figures.architecture
                                             : f.module->architecture;
}

int BuiltIn(const Function& f, CUfunction_attribute attribute) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return MostThreads(f);
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
      return ConstantBytes(*f.module);
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      return static_cast<int>(f.info.cluster[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH]);
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      return static_cast<int>(f.info.shared_bytes);
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      return static_cast<int>(f.info.local_bytes);
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      return static_cast<int>(std::max(f.info.registers, 16u));
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      return static_cast<int>(f.module->architecture);
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      return static_cast<int>(BinaryArchitecture(f));
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return kSharedPerBlock - static_cast<int>(f.info.shared_bytes);
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return -1;
    default:
      return 0;
  }
}

CUresult GiveAttribute(int* value, CUfunction_attribute attribute, const Function* function) {
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (value == nullptr || attribute < 0 || attribute >= CU_FUNC_ATTRIBUTE_MAX)
    return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  auto set = function->attributes.find(attribute);
  *value = set != function->attributes.end() ? set->second : BuiltIn(*function, attribute);
  return CUDA_SUCCESS;
}

bool IsClusterSize(CUfunction_attribute attribute) {
  return attribute >= CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH &&
         attribute <= CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH;
}

bool IsInRange(CUfunction_attribute attribute, int value) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return value >= -1 && value <= 100;  // percent; -1: no preference
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      return value == 0 || value == 1;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      return value >= CU_CLUSTER_SCHEDULING_POLICY_DEFAULT &&
             value <= CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING;
    default:
      return value >= 0;
  }
}

CUresult TakeAttribute(Function* function, CUfunction_attribute attribute, int value,
                       const Gpu& gpu) {
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (attribute < CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ||
      attribute >= CU_FUNC_ATTRIBUTE_MAX ||
      attribute == CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (!IsInRange(attribute, value)) return CUDA_ERROR_INVALID_VALUE;
  if (IsClusterSize(attribute) && function->info.cluster[0] != 0) return CUDA_ERROR_INVALID_VALUE;
  const int most = CapabilityOf(gpu.figures.architecture).shared_per_block_opt_in;
  if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES &&
      (value < 0 || value > most - static_cast<int>(function->info.shared_bytes))) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const Lock lock = LockDevice();
  function->attributes[attribute] = value;
  return CUDA_SUCCESS;
}

}  // namespace

CUresult FuncGetName(const char** name, CUfunction f) {
  const auto* function = Resolve<Function>(f);
  return function != nullptr ? GiveName(name, function) : Wrong(f);
}
CUresult KernelGetName(const char** name, CUkernel k) {
  return FuncGetName(name, reinterpret_cast<CUfunction>(k));
}

CUresult FuncGetParamInfo(CUfunction f, size_t index, size_t* offset, size_t* size) {
  const auto* function = Resolve<Function>(f);
  return function != nullptr ? GiveParameter(function, index, offset, size) : Wrong(f);
}
CUresult KernelGetParamInfo(CUkernel k, size_t index, size_t* offset, size_t* size) {
  if (CurrentContext() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  return GiveParameter(Resolve<Function>(k), index, offset, size);
}

CUresult FuncGetModule(CUmodule* out, CUfunction f) {
  auto* function = Resolve<Function>(f);
  if (function == nullptr) return Wrong(f);
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *out = function->module->handle();
  return CUDA_SUCCESS;
}

CUresult KernelGetLibrary(CUlibrary* out, CUkernel k) {
  return FuncGetModule(reinterpret_cast<CUmodule*>(out), reinterpret_cast<CUfunction>(k));
}

CUresult KernelGetFunction(CUfunction* out, CUkernel k) {
  auto* function = Resolve<Function>(k);
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *out = function->handle();
  return CUDA_SUCCESS;
}

CUresult FuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction f) {
  return GiveAttribute(value, attribute, Resolve<Function>(f));
}
CUresult KernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel k,
                            CUdevice device) {
  return Device::Get().IsGpu(device) ? GiveAttribute(value, attribute, Resolve<Function>(k))
                                     : CUDA_ERROR_INVALID_DEVICE;
}
CUresult FuncSetAttribute(CUfunction f, CUfunction_attribute attribute, int value) {
  const Context* context = CurrentContext();
  return context != nullptr ? TakeAttribute(Resolve<Function>(f), attribute, value, *context->gpu)
                            : CUDA_ERROR_INVALID_CONTEXT;
}
CUresult KernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel k,
                            CUdevice device) {
  const Gpu* gpu = Device::Get().FindGpu(device);
  return gpu != nullptr ? TakeAttribute(Resolve<Function>(k), attribute, value, *gpu)
                        : CUDA_ERROR_INVALID_DEVICE;
}

CUresult KernelSetCacheConfig(CUkernel k, CUfunc_cache config, CUdevice device) {
  return Device::Get().IsGpu(device) ? FuncSetCacheConfig(reinterpret_cast<CUfunction>(k), config)
                                     : CUDA_ERROR_INVALID_DEVICE;
}

// Code is never run: all of it counts as loaded.
CUresult FuncIsLoaded(CUfunctionLoadingState* state, CUfunction f) {
  if (state == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (Resolve<Function>(f) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *state = CU_FUNCTION_LOADING_STATE_LOADED;
  return CUDA_SUCCESS;
}
CUresult FuncLoad(CUfunction f) {
  return Resolve<Function>(f) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

}  // namespace graphkit::soft::driver
