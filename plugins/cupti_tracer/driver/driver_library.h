// The few questions that the tracer asks the driver: names and argument layouts of kernels,
// whether it knows an address, versions, free memory. None of them changes anything, waits for
// anything, or is forbidden during a capture. They are asked from callbacks on the enter and exit
// of API calls only, never from resource callbacks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "plugins/cupti_tracer/recorder/kernels.h"

namespace graphkit {

class DriverLibrary {
 public:
  // From the libcuda that is in the process; functions that it lacks are not asked.
  void Bind();

  int Version() const;             // as cuDriverGetVersion; 0: unknown
  std::string DeviceName() const;  // of the current context's device; empty: unknown

  // True if an address is CUDA's: allocated, mapped or registered; nothing: not known.
  std::optional<bool> Knows(uint64_t address) const;

  // Of the allocation that holds an address, in bytes; 0: not known.
  uint64_t SizeAt(uint64_t address) const;

  // Of the current context's device, in bytes; nothing: it can't be asked.
  std::optional<uint64_t> FreeMemory() const;

  // `function` is a CUfunction or a CUkernel; `name`, if the caller knows it already.
  KernelLayout Layout(uint64_t function, const char* name) const;

 private:
  using ParamInfo = int (*)(uint64_t function, size_t index, size_t* offset, size_t* size);
  using GetName = int (*)(const char** name, uint64_t function);

  ParamInfo function_param_ = nullptr;
  ParamInfo kernel_param_ = nullptr;
  GetName function_name_ = nullptr;
  GetName kernel_name_ = nullptr;
  int (*has_operands_)(uint64_t function) = nullptr;  // of the software device only
  int (*pointer_)(void* out, int attribute, uint64_t address) = nullptr;
  int (*version_)(int*) = nullptr;
  int (*current_device_)(int*) = nullptr;
  int (*memory_info_)(size_t* free, size_t* total) = nullptr;
  int (*device_name_)(char*, int, int) = nullptr;
};

}  // namespace graphkit
