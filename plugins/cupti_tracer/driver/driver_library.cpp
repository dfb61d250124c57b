#include "plugins/cupti_tracer/driver/driver_library.h"

#include <dlfcn.h>

namespace graphkit {
namespace {

constexpr int kSuccess = 0;
constexpr int kInvalidValue = 1;     // past the last parameter; an address that isn't CUDA's
constexpr int kInvalidHandle = 400;  // not a CUfunction
constexpr size_t kMostParams = 4096;

}  // namespace

void DriverLibrary::Bind() {
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (driver == nullptr) return;
  auto load = [driver](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(driver, name));
  };
  load("cuFuncGetParamInfo", function_param_);
  load("cuKernelGetParamInfo", kernel_param_);
  load("cuFuncGetName", function_name_);
  load("cuKernelGetName", kernel_name_);
  load("graphkit_soft_has_operands", has_operands_);
  load("cuPointerGetAttribute", pointer_);
  load("cuDriverGetVersion", version_);
  load("cuCtxGetDevice", current_device_);
  load("cuDeviceGetName", device_name_);
  load("cuMemGetInfo_v2", memory_info_);
}

int DriverLibrary::Version() const {
  int version = 0;
  return version_ != nullptr && version_(&version) == kSuccess ? version : 0;
}

std::string DriverLibrary::DeviceName() const {
  int device = 0;
  char name[256] = "";
  bool known = current_device_ != nullptr && device_name_ != nullptr &&
               current_device_(&device) == kSuccess &&
               device_name_(name, sizeof name, device) == kSuccess;
  return known ? name : "";
}

std::optional<bool> DriverLibrary::Knows(uint64_t address) const {
  constexpr int kMemoryType = 2;  // CU_POINTER_ATTRIBUTE_MEMORY_TYPE
  unsigned type = 0;
  const int result = pointer_ != nullptr ? pointer_(&type, kMemoryType, address) : -1;
  if (result != kSuccess && result != kInvalidValue) return {};
  return result == kSuccess;
}

uint64_t DriverLibrary::SizeAt(uint64_t address) const {
  constexpr int kRangeSize = 12;  // CU_POINTER_ATTRIBUTE_RANGE_SIZE
  size_t size = 0;
  return pointer_ != nullptr && pointer_(&size, kRangeSize, address) == kSuccess ? size : 0;
}

std::optional<uint64_t> DriverLibrary::FreeMemory() const {
  size_t free = 0, total = 0;
  if (memory_info_ == nullptr || memory_info_(&free, &total) != kSuccess) return std::nullopt;
  return free;
}

KernelLayout DriverLibrary::Layout(uint64_t function, const char* name) const {
  KernelLayout layout;
  ParamInfo param = function_param_;
  size_t offset = 0, size = 0;
  int result = param != nullptr ? param(function, 0, &offset, &size) : kInvalidHandle;
  bool is_kernel = result == kInvalidHandle && kernel_param_ != nullptr;
  if (is_kernel) {
    param = kernel_param_;
    result = param(function, 0, &offset, &size);
  }
  while (result == kSuccess && layout.params.size() < kMostParams) {
    layout.params.push_back({static_cast<uint32_t>(offset), static_cast<uint32_t>(size)});
    result = param(function, layout.params.size(), &offset, &size);
  }
  layout.known = result == kInvalidValue;
  if (!layout.known) layout.params.clear();
  layout.operands = has_operands_ != nullptr && has_operands_(function) != 0;
  const char* asked = name;
  GetName get_name = is_kernel ? kernel_name_ : function_name_;
  if (asked == nullptr && get_name != nullptr) get_name(&asked, function);
  layout.name = asked != nullptr ? asked : "";
  return layout;
}

}  // namespace graphkit
