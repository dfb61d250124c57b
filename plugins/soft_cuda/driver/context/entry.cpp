// Finding functions by name and version, and naming errors.
#include <cstring>
#include <string_view>

#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/device/properties.h"

namespace {

struct Symbol {
  std::string_view name;
  int version;  // from this CUDA version on
  void (*function)();
  void (*per_thread)();  // its twin whose null stream is the thread's own
};

#include "driver_symbols.inc"

}  // namespace

namespace graphkit::soft::driver {
namespace {

struct ErrorName {
  int code;
  const char* name;
  const char* text;
};

constexpr ErrorName kErrors[] = {
#include "driver_errors.inc"
};

// Null: no such error.
const ErrorName* FindError(CUresult error) {
  for (const ErrorName& row : kErrors) {
    if (row.code == static_cast<int>(error)) return &row;
  }
  return nullptr;
}

}  // namespace

CUresult GetProcAddress_v2(const char* name, void** out, int version, cuuint64_t flags,
                           CUdriverProcAddressQueryResult* status) {
  constexpr cuuint64_t kFlags =
      CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  if (name == nullptr || out == nullptr || (flags & ~kFlags) != 0) return CUDA_ERROR_INVALID_VALUE;
  const Symbol* best = nullptr;
  bool known = false;
  for (const Symbol& symbol : kSymbols) {
    if (symbol.name != name || symbol.version > DriverVersion()) continue;
    known = true;
    if (symbol.version <= version && (best == nullptr || symbol.version > best->version))
      best = &symbol;
  }
  *out = nullptr;
  if (best != nullptr) {
    const bool per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
    *out = reinterpret_cast<void*>(per_thread ? best->per_thread : best->function);
  }
  if (status != nullptr) {
    *status = best != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS
              : known         ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                              : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  }
  return CUDA_SUCCESS;
}

CUresult GetProcAddress(const char* name, void** out, int version, cuuint64_t flags) {
  const CUresult result = GetProcAddress_v2(name, out, version, flags, nullptr);
  return result == CUDA_SUCCESS && *out == nullptr ? CUDA_ERROR_NOT_FOUND : result;
}

CUresult GetErrorName(CUresult error, const char** out) {
  const ErrorName* row = FindError(error);
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *out = row != nullptr ? row->name : nullptr;
  return row != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult GetErrorString(CUresult error, const char** out) {
  const ErrorName* row = FindError(error);
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *out = row != nullptr ? row->text : nullptr;
  return row != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace graphkit::soft::driver
