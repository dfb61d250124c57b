// The arguments of a driver call, for calls that fail.
#include <cuda.h>
#include <cupti.h>

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "plugins/cupti_tracer/driver/driver_calls.h"

namespace graphkit {
namespace {

struct ArgumentRow {
  uint16_t call;
  uint16_t offset;
  uint8_t size;
  ArgumentKind kind;
  Taken what;
  const char* name;
};

struct DeviceAddress {};  // in the list: CUdeviceptr, which is a number for the compiler

template <typename T>
constexpr Taken HandleOf() {
  if constexpr (std::is_same_v<T, CUevent>) return Taken::kEvent;
  if constexpr (std::is_same_v<T, CUgraph>) return Taken::kGraph;
  if constexpr (std::is_same_v<T, CUgraphExec>) return Taken::kExec;
  if constexpr (std::is_same_v<T, CUgraphNode>) return Taken::kNode;
  if constexpr (std::is_same_v<T, CUmemoryPool>) return Taken::kPool;
  return Taken::kNothing;
}

template <typename T>
constexpr ArgumentKind KindOf() {
  if constexpr (std::is_same_v<T, DeviceAddress>) return ArgumentKind::kAddress;
  if constexpr (HandleOf<T>() != Taken::kNothing) return ArgumentKind::kHandle;
  if constexpr (std::is_signed_v<T>) return ArgumentKind::kSigned;
  if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) return ArgumentKind::kUnsigned;
  return ArgumentKind::kNone;
}

template <typename T>
constexpr ArgumentRow Row(int call, size_t offset, size_t size, const char* name) {
  return {static_cast<uint16_t>(call),
          static_cast<uint16_t>(offset),
          static_cast<uint8_t>(size <= sizeof(uint64_t) ? size : 0),
          KindOf<T>(),
          HandleOf<T>(),
          name};
}

// Names stand beside ##, so that cuda.h's own macros leave them alone.
#define GRAPHKIT_VALUE(call, field)                                   \
  Row<decltype(call##_params::field)>(CUPTI_DRIVER_TRACE_CBID_##call, \
                                      offsetof(call##_params, field), \
                                      sizeof(call##_params::field), #field),
#define GRAPHKIT_ADDRESS(call, field)                                                \
  Row<DeviceAddress>(CUPTI_DRIVER_TRACE_CBID_##call, offsetof(call##_params, field), \
                     sizeof(call##_params::field), #field),

constexpr ArgumentRow kRows[] = {
#include "driver_arguments.inc"
};

uint64_t ValueAt(const char* at, const ArgumentRow& row) {
  uint64_t value = 0;
  std::memcpy(&value, at, row.size);
  const bool negative = row.kind == ArgumentKind::kSigned && row.size == 4 && (value >> 31) != 0;
  return negative ? value | ~uint64_t{0xffffffff} : value;
}

}  // namespace

void ReadArguments(uint32_t call, const void* params, std::vector<CallArgument>& arguments) {
  arguments.clear();
  if (params == nullptr) return;
  for (const ArgumentRow& row : kRows) {
    if (row.call != call || row.kind == ArgumentKind::kNone) continue;
    const char* at = static_cast<const char*>(params) + row.offset;
    arguments.push_back({row.name, row.kind, ValueAt(at, row), row.what});
  }
}

}  // namespace graphkit
