// An injection library that subscribes to CUPTI as the tracer does and does nothing in its
// callbacks: what tracing costs without graphkit. For tools/gpu_check.sh.
#include <cupti.h>
#include <dlfcn.h>

#include <cstdio>

namespace {

void Nothing(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

template <typename Function>
bool Load(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  void* cupti = nullptr;
  for (const char* name : {"libcupti.so.13", "libcupti.so.12"}) {
    if (cupti == nullptr) cupti = dlopen(name, RTLD_LAZY);
  }
  decltype(cuptiSubscribe)* subscribe = nullptr;
  decltype(cuptiEnableDomain)* enable = nullptr;
  CUpti_SubscriberHandle subscriber = nullptr;
  const bool ready = cupti != nullptr && Load(cupti, "cuptiSubscribe", subscribe) &&
                     Load(cupti, "cuptiEnableDomain", enable) &&
                     subscribe(&subscriber, Nothing, nullptr) == CUPTI_SUCCESS;
  if (!ready) {
    std::fputs("empty_callbacks: no CUPTI to subscribe to\n", stderr);
    return 0;
  }
  for (CUpti_CallbackDomain domain :
       {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_RESOURCE}) {
    enable(1, subscriber, domain);
  }
  return 1;
}
