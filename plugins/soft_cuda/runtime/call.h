// The frame of each runtime function (runtime_entries.cpp): the driver and the primary context are
// made ready on first use, and an error becomes the thread's last error.
#pragma once

#include <cuda_runtime_api.h>

#include "plugins/soft_cuda/abi/api_call.h"
#include "plugins/soft_cuda/runtime/start.h"

namespace graphkit::soft {

constexpr unsigned kEarly = 1;    // needs no driver
constexpr unsigned kNoctx = 2;    // needs the driver, but no context
constexpr unsigned kNolatch = 4;  // doesn't set the last error

inline cudaStream_t PerThread(cudaStream_t stream) { return stream ? stream : cudaStreamPerThread; }

// Flags of a search for driver functions: by default those that have per-thread null streams.
inline unsigned long long PerThread(unsigned long long flags) {
  constexpr unsigned long long kOwn = cudaEnablePerThreadDefaultStream;
  return flags == cudaEnableDefault ? kOwn : flags;
}

// A launch configuration whose null stream is the thread's own.
class PerThreadConfig {
 public:
  explicit PerThreadConfig(const cudaLaunchConfig_t* config) : given_(config) {
    if (given_ == nullptr) return;
    own_ = *given_;
    own_.stream = PerThread(own_.stream);
  }
  operator const cudaLaunchConfig_t*() const {
    return given_ != nullptr ? &own_ : nullptr;
  }  // NOLINT

 private:
  const cudaLaunchConfig_t* given_;
  cudaLaunchConfig_t own_{};
};
inline PerThreadConfig PerThread(const cudaLaunchConfig_t* config) {
  return PerThreadConfig(config);
}

inline const char* SymbolOf(const void* function) {
  return SharedState().symbol(runtime::KernelOf(function));
}

inline cudaError_t Latched(cudaError_t error, unsigned flags) {
  if (error != cudaSuccess && error != cudaErrorNotReady && !(flags & kNolatch)) {
    SharedState().thread()->runtime_errors[runtime::RuntimeIndex()] = error;
  }
  return error;
}

// A function that isn't modelled says so, and leaves its error as any other does.
inline cudaError_t NotModelledHere(const char* function, const void* caller) {
  return Latched(NotModelled<cudaError_t>(function, caller), 0);
}

template <typename Symbol, typename Body>
cudaError_t Call(const CallSite& site, const void* params, Symbol&& symbol, Body&& body) {
  if (!(site.flags & kEarly)) {
    if (cudaError_t error = runtime::StartDriver(); error != cudaSuccess)
      return Latched(error, site.flags);
  }
  return CallThroughHub(CUPTI_CB_DOMAIN_RUNTIME_API, site, params, symbol, [&]() -> cudaError_t {
    if (!(site.flags & (kEarly | kNoctx))) {
      if (cudaError_t error = runtime::MakeContextCurrent(); error != cudaSuccess)
        return Latched(error, site.flags);
    }
    return Latched(body(), site.flags);
  });
}

}  // namespace graphkit::soft
