// The frame of every exported function around its implementation: notifies the subscriber on enter
// and on exit.
#pragma once

#include "plugins/soft_cuda/device/shared.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace graphkit::soft {

struct CallSite {
  uint32_t cbid;
  const char* name;
  unsigned flags;
};

inline const Shared& SharedState() {
  static const Shared* shared = graphkit_soft_shared();
  return *shared;
}

inline Hub& TheHub() { return *SharedState().hub; }

// `caller` is an address in the code that called the function.
template <typename T>
T NotModelled(const char* function, const void* caller) {
  SharedState().not_modelled(function, caller);
  return static_cast<T>(801);  // CUDA_ERROR_NOT_SUPPORTED, cudaErrorNotSupported
}

// One call in flight that a subscriber listens to. Nested calls share the correlation id of the
// outermost one.
class TracedCall {
 public:
  TracedCall(CUpti_CallbackDomain domain, const CallSite& site, const void* params,
             const char* symbol)
      : domain_(domain), site_(site), thread_(*SharedState().thread()) {
    if (thread_.depth++ == 0) thread_.correlation = ++TheHub().correlation;
    data_.functionName = site.name;
    data_.functionParams = params;
    data_.symbolName = symbol;
    data_.correlationData = &correlation_data_;
    data_.correlationId = thread_.correlation;
    Tell(CUPTI_API_ENTER);
  }
  ~TracedCall() { --thread_.depth; }
  TracedCall(const TracedCall&) = delete;
  TracedCall& operator=(const TracedCall&) = delete;

  void Exit(void* result) {
    data_.functionReturnValue = result;
    Tell(CUPTI_API_EXIT);
  }

 private:
  void Tell(CUpti_ApiCallbackSite where) {
    data_.callbackSite = where;
    data_.context = SharedState().current_context(&data_.contextUid);
    TheHub().Deliver(domain_, site_.cbid, &data_);
  }

  CUpti_CallbackDomain domain_;
  const CallSite& site_;
  ThreadState& thread_;
  CUpti_CallbackData data_{};
  uint64_t correlation_data_ = 0;
};

template <typename Symbol, typename Body>
auto CallThroughHub(CUpti_CallbackDomain domain, const CallSite& site, const void* params,
                    Symbol&& symbol, Body&& body) {
  if (!TheHub().Wants(domain, site.cbid)) [[likely]] {
    return body();
  }
  TracedCall call(domain, site, params, symbol());
  auto result = body();
  call.Exit(&result);
  return result;
}

}  // namespace graphkit::soft
