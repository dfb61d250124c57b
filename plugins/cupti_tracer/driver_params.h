// What decoders read parameters with.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "plugins/cupti_tracer/driver_calls.h"

namespace graphkit::decode {

// The parameters of the call, of the type that CUPTI gives the function's.
template <typename Params>
const Params& As(const CallParams& params) {
  return *static_cast<const Params*>(params.raw);
}

inline uint64_t Address(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

inline uint64_t Stream(const CallParams& params, CUstream stream) {
  return StreamHandle(stream, params.row->per_thread);
}

}  // namespace graphkit::decode
