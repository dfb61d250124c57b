// Kernels: names, argument layouts, attributes, occupancy.
#include <algorithm>

#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/device/properties.h"

namespace graphkit::soft::driver {
namespace {

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

int BuiltIn(const Function& f, CUfunction_attribute attribute) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return static_cast<int>(f.info.max_threads);
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      return static_cast<int>(f.info.shared_bytes);
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      return static_cast<int>(f.info.local_bytes);
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      return static_cast<int>(std::max(f.info.registers, 16u));
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      return static_cast<int>(kArchitecture);
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return 49152 - static_cast<int>(f.info.shared_bytes);
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

CUresult TakeAttribute(Function* function, CUfunction_attribute attribute, int value) {
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (attribute < CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ||
      attribute >= CU_FUNC_ATTRIBUTE_MAX) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES &&
      (value < 0 || value > 232448)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const Lock lock = LockDevice();
  function->attributes[attribute] = value;
  return CUDA_SUCCESS;
}

// Blocks of one multiprocessor, by threads, registers and shared memory.
int BlocksPerMultiprocessor(const Function& f, int block, size_t dynamic_bytes) {
  const int warps = (block + 31) / 32;
  int blocks = std::min(32, 64 / std::max(warps, 1));
  const int registers = std::max(static_cast<int>(f.info.registers), 16) * 32 * warps;
  blocks = std::min(blocks, 65536 / std::max(registers, 1));
  const size_t shared = f.info.shared_bytes + dynamic_bytes + 1024;
  return std::min(blocks, static_cast<int>(233472 / shared));
}

}  // namespace

CUresult FuncGetName(const char** name, CUfunction f) {
  return GiveName(name, Resolve<Function>(f));
}
CUresult KernelGetName(const char** name, CUkernel k) {
  return GiveName(name, Resolve<Function>(k));
}

CUresult FuncGetParamInfo(CUfunction f, size_t index, size_t* offset, size_t* size) {
  return GiveParameter(Resolve<Function>(f), index, offset, size);
}
CUresult KernelGetParamInfo(CUkernel k, size_t index, size_t* offset, size_t* size) {
  return GiveParameter(Resolve<Function>(k), index, offset, size);
}

CUresult FuncGetModule(CUmodule* out, CUfunction f) {
  auto* function = Resolve<Function>(f);
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
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
  return device == 0 ? GiveAttribute(value, attribute, Resolve<Function>(k))
                     : CUDA_ERROR_INVALID_DEVICE;
}
CUresult FuncSetAttribute(CUfunction f, CUfunction_attribute attribute, int value) {
  return TakeAttribute(Resolve<Function>(f), attribute, value);
}
CUresult KernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel k,
                            CUdevice device) {
  return device == 0 ? TakeAttribute(Resolve<Function>(k), attribute, value)
                     : CUDA_ERROR_INVALID_DEVICE;
}

CUresult OccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction f, int block,
                                                            size_t dynamic, unsigned int) {
  const auto* function = Resolve<Function>(f);
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (blocks == nullptr || block <= 0 || block > 1024) return CUDA_ERROR_INVALID_VALUE;
  *blocks = BlocksPerMultiprocessor(*function, block, dynamic);
  return CUDA_SUCCESS;
}

CUresult OccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction f, int block,
                                                   size_t dynamic) {
  return OccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, f, block, dynamic, 0);
}

}  // namespace graphkit::soft::driver
