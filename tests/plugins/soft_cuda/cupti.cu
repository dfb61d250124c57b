// CUPTI: one subscriber, who holds it, names, versions, ids. Needs a libcupti.so.13 on the loader's
// path.
#include <cstring>

#include "cupti_calls.h"
#include "kernels.h"

using conformance::LoadCupti;

namespace {

int calls = 0;
uint32_t last_correlation = 0;

void CUPTIAPI Count(void* user_data, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                    const void* data) {
  EXPECT(user_data == &calls);
  EXPECT(domain == CUPTI_CB_DOMAIN_RUNTIME_API);
  EXPECT(cbid == CUPTI_RUNTIME_TRACE_CBID_cudaGetDeviceCount_v3020);
  const auto& call = *static_cast<const CUpti_CallbackData*>(data);
  if (call.callbackSite == CUPTI_API_ENTER) {
    *call.correlationData = 77;
    last_correlation = call.correlationId;
  } else {
    EXPECT(*call.correlationData == 77);
    EXPECT(call.correlationId == last_correlation);
    EXPECT(*static_cast<cudaError_t*>(call.functionReturnValue) == cudaSuccess);
    const auto& params = *static_cast<const int* const*>(call.functionParams);
    EXPECT(*params >= 1);
  }
  EXPECT(std::strcmp(call.functionName, "cudaGetDeviceCount") == 0);
  ++calls;
}

// effect: cuptiSubscribe cuptiSubscribe_v2 cuptiUnsubscribe cuptiEnableCallback
void OneSubscriber() {
  CUpti_SubscriberHandle first = nullptr;
  CUpti_SubscriberParams params = {};
  params.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
  params.subscriberName = "conformance";
  EXPECT(CUPTI(cuptiSubscribe_v2)(&first, Count, &calls, &params) == CUPTI_SUCCESS);
  CUpti_SubscriberHandle second = nullptr;
  char holder[64] = {};
  params.subscriberName = "another";
  params.oldSubscriberName = holder;
  params.oldSubscriberSize = sizeof holder;
  EXPECT(CUPTI(cuptiSubscribe_v2)(&second, Count, &calls, &params) ==
         CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  EXPECT(std::strcmp(holder, "CUPTI for conformance") == 0);
  EXPECT(CUPTI(cuptiSubscribe)(&second, Count, &calls) ==
         CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);

  auto* enable = CUPTI(cuptiEnableCallback);
  const auto domain = CUPTI_CB_DOMAIN_RUNTIME_API;
  EXPECT(enable(1, first, domain, CUPTI_RUNTIME_TRACE_CBID_cudaGetDeviceCount_v3020) ==
         CUPTI_SUCCESS);
  EXPECT(enable(1, first, domain, 100000) == CUPTI_ERROR_INVALID_PARAMETER);
  int count = 0;
  EXPECT_OK(cudaGetDeviceCount(&count));
  EXPECT(calls == 2);
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(calls == 2);
  EXPECT(CUPTI(cuptiEnableCallback)(1, nullptr, domain, 1) == CUPTI_ERROR_INVALID_PARAMETER);
  EXPECT(CUPTI(cuptiUnsubscribe)(first) == CUPTI_SUCCESS);
  EXPECT(CUPTI(cuptiUnsubscribe)(nullptr) == CUPTI_ERROR_INVALID_PARAMETER);
  EXPECT_OK(cudaGetDeviceCount(&count));
  EXPECT(calls == 2);
  EXPECT(CUPTI(cuptiSubscribe)(&second, Count, &calls) == CUPTI_SUCCESS);
  EXPECT(CUPTI(cuptiUnsubscribe)(second) == CUPTI_SUCCESS);
}

void CUPTIAPI Ignore(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

// effect: cuptiEnableDomain cuptiEnableAllDomains cuptiGetCallbackState cuptiSupportedDomains
void Domains() {
  const auto domain = CUPTI_CB_DOMAIN_RUNTIME_API;
  CUpti_SubscriberHandle holder = nullptr;
  EXPECT(CUPTI(cuptiSubscribe)(&holder, Ignore, nullptr) == CUPTI_SUCCESS);
  uint32_t enabled = 0;
  EXPECT(CUPTI(cuptiEnableDomain)(1, holder, domain) == CUPTI_SUCCESS);
  EXPECT(CUPTI(cuptiGetCallbackState)(&enabled, holder, domain, 3) == CUPTI_SUCCESS);
  EXPECT(enabled == 1);
  EXPECT(CUPTI(cuptiEnableAllDomains)(0, holder) == CUPTI_SUCCESS);
  EXPECT(CUPTI(cuptiGetCallbackState)(&enabled, holder, domain, 3) == CUPTI_SUCCESS);
  EXPECT(enabled == 0);
  size_t count = 0;
  CUpti_DomainTable table = nullptr;
  EXPECT(CUPTI(cuptiSupportedDomains)(&count, &table) == CUPTI_SUCCESS);
  bool found = false;
  for (size_t i = 0; i < count; ++i) found = found || table[i] == domain;
  EXPECT(found);
  EXPECT(CUPTI(cuptiEnableDomain)(1, nullptr, domain) == CUPTI_ERROR_INVALID_PARAMETER);
  EXPECT(CUPTI(cuptiEnableAllDomains)(1, nullptr) == CUPTI_ERROR_INVALID_PARAMETER);
  EXPECT(CUPTI(cuptiGetCallbackState)(nullptr, holder, domain, 3) == CUPTI_ERROR_INVALID_PARAMETER);
  EXPECT(CUPTI(cuptiSupportedDomains)(nullptr, nullptr) == CUPTI_ERROR_INVALID_PARAMETER);
  EXPECT(CUPTI(cuptiUnsubscribe)(holder) == CUPTI_SUCCESS);
}

// effect: cuptiGetCallbackName cuptiGetResultString cuptiGetVersion cuptiGetTimestamp
// effect: cuptiGetErrorMessage
void Names() {
  const char* name = nullptr;
  EXPECT(CUPTI(cuptiGetCallbackName)(CUPTI_CB_DOMAIN_DRIVER_API,
                                     CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
                                     &name) == CUPTI_SUCCESS);
  EXPECT(std::strcmp(name, "cuGraphLaunch") == 0);
  EXPECT(CUPTI(cuptiGetResultString)(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, &name) ==
         CUPTI_SUCCESS);
  EXPECT(std::strcmp(name, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED") == 0);
  name = nullptr;
  EXPECT(CUPTI(cuptiGetErrorMessage)(CUPTI_ERROR_INVALID_PARAMETER, &name) == CUPTI_SUCCESS);
  EXPECT(name != nullptr && std::strlen(name) > 0);
  EXPECT(CUPTI(cuptiGetErrorMessage)(CUPTI_SUCCESS, nullptr) == CUPTI_ERROR_INVALID_PARAMETER);
  uint32_t version = 0;
  EXPECT(CUPTI(cuptiGetVersion)(&version) == CUPTI_SUCCESS && version >= 130000);
  uint64_t before = 0;
  uint64_t after = 0;
  EXPECT(CUPTI(cuptiGetTimestamp)(&before) == CUPTI_SUCCESS);
  EXPECT(CUPTI(cuptiGetTimestamp)(&after) == CUPTI_SUCCESS);
  EXPECT(after >= before);
  EXPECT(CUPTI(cuptiGetVersion)(nullptr) == CUPTI_ERROR_INVALID_PARAMETER);
  EXPECT(CUPTI(cuptiGetTimestamp)(nullptr) == CUPTI_ERROR_INVALID_PARAMETER);
  EXPECT(CUPTI(cuptiGetResultString)(CUPTI_SUCCESS, nullptr) == CUPTI_ERROR_INVALID_PARAMETER);
  EXPECT(CUPTI(cuptiGetCallbackName)(CUPTI_CB_DOMAIN_DRIVER_API, 1, nullptr) ==
         CUPTI_ERROR_INVALID_PARAMETER);
}

// effect: cuptiGetGraphId cuptiGetGraphNodeId cuptiGetGraphExecId
void Ids() {
  cudaGraph_t graph = nullptr;
  cudaGraph_t second = nullptr;
  cudaGraphNode_t node = nullptr;
  EXPECT_OK(cudaGraphCreate(&graph, 0));
  EXPECT_OK(cudaGraphCreate(&second, 0));
  EXPECT_OK(cudaGraphAddEmptyNode(&node, graph, nullptr, 0));
  uint32_t id = 0;
  uint32_t next = 0;
  uint64_t node_id = 0;
  EXPECT(CUPTI(cuptiGetGraphId)(graph, &id) == CUPTI_SUCCESS);
  EXPECT(CUPTI(cuptiGetGraphId)(second, &next) == CUPTI_SUCCESS);
  EXPECT(next == id + 1);
  EXPECT(CUPTI(cuptiGetGraphNodeId)(node, &node_id) == CUPTI_SUCCESS);
  EXPECT(node_id >> 32 == id);
  EXPECT(CUPTI(cuptiGetGraphId)(nullptr, &id) == CUPTI_ERROR_INVALID_PARAMETER);
  EXPECT(CUPTI(cuptiGetGraphNodeId)(nullptr, &node_id) == CUPTI_ERROR_INVALID_PARAMETER);
  cudaGraphExec_t exec = nullptr;
  uint32_t exec_id = 0;
  EXPECT_OK(cudaGraphInstantiate(&exec, graph, 0));
  EXPECT(CUPTI(cuptiGetGraphExecId)(exec, &exec_id) == CUPTI_SUCCESS && exec_id > id);
  EXPECT(CUPTI(cuptiGetGraphExecId)(nullptr, &exec_id) == CUPTI_ERROR_INVALID_PARAMETER);
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
  EXPECT_OK(cudaGraphDestroy(second));
}

// effect: cuptiGetContextId cuptiGetDeviceId cuptiGetStreamId cuptiGetStreamIdEx
void Places() {
  CUcontext context = nullptr;
  cudaStream_t stream = nullptr;
  EXPECT_OK(cuCtxGetCurrent(&context));
  EXPECT_OK(cudaStreamCreate(&stream));
  uint32_t context_id = 0;
  uint32_t device = 77;
  EXPECT(CUPTI(cuptiGetContextId)(context, &context_id) == CUPTI_SUCCESS && context_id > 0);
  EXPECT(CUPTI(cuptiGetDeviceId)(context, &device) == CUPTI_SUCCESS && device == 0);
  EXPECT(CUPTI(cuptiGetDeviceId)(nullptr, &device) == CUPTI_SUCCESS && device == 0);
  uint32_t id = 0;
  uint32_t same = 0;
  uint32_t legacy = 0;
  EXPECT(CUPTI(cuptiGetStreamId)(nullptr, stream, &id) == CUPTI_SUCCESS);
  EXPECT(CUPTI(cuptiGetStreamIdEx)(context, stream, 0, &same) == CUPTI_SUCCESS && same == id);
  EXPECT(CUPTI(cuptiGetStreamIdEx)(context, nullptr, 0, &legacy) == CUPTI_SUCCESS);
  EXPECT(CUPTI(cuptiGetStreamIdEx)(context, nullptr, 1, &same) == CUPTI_SUCCESS);
  EXPECT(legacy != id && same != id && same != legacy);

  ON_SOFT(EXPECT(CUPTI(cuptiGetContextId)(nullptr, &context_id) == CUPTI_ERROR_INVALID_CONTEXT));
  EXPECT(CUPTI(cuptiGetContextId)(context, nullptr) == CUPTI_ERROR_INVALID_PARAMETER);
  EXPECT(CUPTI(cuptiGetDeviceId)(context, nullptr) == CUPTI_ERROR_INVALID_PARAMETER);
  EXPECT(CUPTI(cuptiGetStreamId)(context, stream, nullptr) == CUPTI_ERROR_INVALID_PARAMETER);
  CUcontext other = nullptr;
  EXPECT_OK(cuCtxCreate(&other, nullptr, 0, 0));
  ON_SOFT(EXPECT(CUPTI(cuptiGetStreamIdEx)(other, stream, 0, &id) == CUPTI_ERROR_INVALID_STREAM));
  EXPECT_OK(cuCtxDestroy(other));
  EXPECT_OK(cudaStreamDestroy(stream));
}

// effect: cuptiFinalize
// cannot fail: cuptiFinalize
void Detached() {
  CUpti_SubscriberHandle holder = nullptr;
  const auto domain = CUPTI_CB_DOMAIN_RUNTIME_API;
  EXPECT(CUPTI(cuptiSubscribe)(&holder, Count, &calls) == CUPTI_SUCCESS);
  EXPECT(CUPTI(cuptiEnableDomain)(1, holder, domain) == CUPTI_SUCCESS);
  EXPECT(CUPTI(cuptiFinalize)() == CUPTI_SUCCESS);
  const int before = calls;
  int count = 0;
  EXPECT_OK(cudaGetDeviceCount(&count));
  EXPECT(calls == before);
  ON_SOFT(EXPECT(CUPTI(cuptiUnsubscribe)(holder) == CUPTI_ERROR_INVALID_PARAMETER));
}

}  // namespace

int main() {
  EXPECT_OK(cudaFree(nullptr));
  if (LoadCupti()) {
    OneSubscriber();
    Domains();
    Names();
    Ids();
    Places();
    Detached();
  }
  return conformance::Finish("cupti");
}
