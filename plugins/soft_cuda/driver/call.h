// The frame of each driver function (driver_entries.cpp).
#pragma once

#include "plugins/soft_cuda/abi/api_call.h"

namespace graphkit::soft {

constexpr unsigned kEarly = 1;    // may be called before cuInit
constexpr unsigned kNoctx = 2;    // needs no context
constexpr unsigned kNolatch = 4;  // the runtime's: doesn't set the last error

inline CUstream PerThread(CUstream stream) { return stream ? stream : CU_STREAM_PER_THREAD; }

// A launch configuration whose null stream is the thread's own.
class PerThreadConfig {
 public:
  explicit PerThreadConfig(const CUlaunchConfig* config) : given_(config) {
    if (given_ == nullptr) return;
    own_ = *given_;
    own_.hStream = PerThread(own_.hStream);
  }
  operator const CUlaunchConfig*() const { return given_ != nullptr ? &own_ : nullptr; }  // NOLINT

 private:
  const CUlaunchConfig* given_;
  CUlaunchConfig own_{};
};
inline PerThreadConfig PerThread(const CUlaunchConfig* config) { return PerThreadConfig(config); }

inline const char* SymbolOf(const void* function) { return SharedState().symbol(function); }

template <typename Symbol, typename Body>
CUresult Call(const CallSite& site, const void* params, Symbol&& symbol, Body&& body) {
  return CallThroughHub(CUPTI_CB_DOMAIN_DRIVER_API, site, params, symbol, [&]() -> CUresult {
    if (!(site.flags & kEarly) && !SharedState().driver_ready()) return CUDA_ERROR_NOT_INITIALIZED;
    return body();
  });
}

}  // namespace graphkit::soft
