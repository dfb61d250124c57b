#include "plugins/soft_cuda/driver/jit_options.h"

#include <algorithm>

namespace graphkit::soft::driver {
namespace {

void* const* ValueOf(const CUjit_option* options, void* const* values, unsigned count,
                     CUjit_option wanted) {
  const CUjit_option* found = std::find(options, options + count, wanted);
  return found != options + count ? values + (found - options) : nullptr;
}

}  // namespace

void GiveLogs(const CUjit_option* options, void** values, unsigned count) {
  for (const CUjit_option log : {CU_JIT_INFO_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER}) {
    const CUjit_option size = log == CU_JIT_INFO_LOG_BUFFER ? CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES
                                                            : CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES;
    void* const* buffer = ValueOf(options, values, count, log);
    void* const* room = ValueOf(options, values, count, size);
    if (buffer != nullptr && *buffer != nullptr && room != nullptr && *room != nullptr)
      *static_cast<char*>(*buffer) = 0;
  }
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES ||
        options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES || options[i] == CU_JIT_WALL_TIME) {
      values[i] = nullptr;
    }
  }
}

bool AreOptions(const void* options, const void* values, unsigned count) {
  return count == 0 || (options != nullptr && values != nullptr);
}

}  // namespace graphkit::soft::driver
