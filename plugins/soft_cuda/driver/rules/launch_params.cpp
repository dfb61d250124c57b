#include <cstring>

#include "plugins/soft_cuda/driver/rules/launch_rules.h"
#include "plugins/soft_cuda/driver/rules/node_params.h"

namespace graphkit::soft::driver {
namespace {

CUresult CopyBuffer(void** extra, KernelArguments* out) {
  const void* buffer = nullptr;
  size_t size = 0;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) {
      buffer = extra[1];
    } else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) {
      size = *static_cast<const size_t*>(extra[1]);
    } else {
      return CUDA_ERROR_INVALID_VALUE;
    }
  }
  if (buffer == nullptr && size > 0) return CUDA_ERROR_INVALID_VALUE;
  out->bytes = std::make_unique<std::byte[]>(size);
  out->size = size;
  out->as_buffer = true;
  if (size > 0) std::memcpy(out->bytes.get(), buffer, size);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult CheckShape(const LaunchShape& s) {
  constexpr unsigned kMaxBlock[3] = {1024, 1024, 64};
  constexpr unsigned kMaxGrid[3] = {2147483647, 65535, 65535};
  for (int i = 0; i < 3; ++i) {
    if (s.grid[i] == 0 || s.block[i] == 0 || s.grid[i] > kMaxGrid[i] || s.block[i] > kMaxBlock[i]) {
      return CUDA_ERROR_INVALID_VALUE;
    }
  }
  const uint64_t threads = uint64_t{s.block[0]} * s.block[1] * s.block[2];
  return threads <= 1024 && s.shared_bytes <= 232448 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult CopyArguments(const Function& function, void** kernel_params, void** extra,
                       KernelArguments* out) {
  if (kernel_params != nullptr && extra != nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (extra != nullptr) return CopyBuffer(extra, out);
  if (!function.info.layout_known || function.info.parameters.empty()) return CUDA_SUCCESS;
  if (kernel_params == nullptr) return CUDA_ERROR_INVALID_VALUE;
  out->size = function.argument_bytes();
  out->bytes = std::make_unique<std::byte[]>(out->size);
  for (size_t i = 0; i < function.info.parameters.size(); ++i) {
    const Parameter& parameter = function.info.parameters[i];
    std::memcpy(out->bytes.get() + parameter.offset, kernel_params[i], parameter.size);
  }
  return CUDA_SUCCESS;
}

void** ArgumentPointers(const Function& function, KernelArguments& arguments) {
  if (!arguments.bytes || arguments.as_buffer) return nullptr;
  if (!arguments.pointers) {
    const std::vector<Parameter>& parameters = function.info.parameters;
    arguments.pointers = std::make_unique<void*[]>(parameters.size());
    for (size_t i = 0; i < parameters.size(); ++i) {
      arguments.pointers[i] = arguments.bytes.get() + parameters[i].offset;
    }
  }
  return arguments.pointers.get();
}

void** BufferPointers(KernelArguments& arguments) {
  if (!arguments.pointers) {
    arguments.pointers = std::make_unique<void*[]>(5);
    void* const list[5] = {CU_LAUNCH_PARAM_BUFFER_SIZE, &arguments.size,
                           CU_LAUNCH_PARAM_BUFFER_POINTER, arguments.bytes.get(),
                           CU_LAUNCH_PARAM_END};
    std::memcpy(arguments.pointers.get(), list, sizeof list);
  }
  return arguments.pointers.get();
}

}  // namespace graphkit::soft::driver
