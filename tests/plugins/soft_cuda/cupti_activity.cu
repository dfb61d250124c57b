// CUPTI's activity calls that tools make when they start. On the software device nothing is
// recorded and the calls say so by their documented codes; on a GPU activities are recorded.
#include <cstring>

#include "cupti_calls.h"
#include "kernels.h"

namespace {

int requested = 0;
int completed = 0;
alignas(8) uint8_t buffer[4096];

void CUPTIAPI Request(uint8_t** out, size_t* bytes, size_t* records) {
  ++requested;
  *out = buffer;
  *bytes = sizeof buffer;
  *records = 0;
}

void CUPTIAPI Complete(CUcontext, uint32_t, uint8_t*, size_t, size_t) { ++completed; }

// effect: cuptiActivityRegisterCallbacks cuptiActivityFlushAll cuptiActivityEnable
// effect: cuptiActivityDisable cuptiActivityEnableAndDump cuptiActivityEnableContext
// effect: cuptiActivityDisableContext
void NoKinds() {
  CUcontext context = nullptr;
  EXPECT_OK(cuCtxGetCurrent(&context));
  const auto kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  ON_SOFT(
      EXPECT(CUPTI(cuptiActivityFlushAll)(0) == CUPTI_ERROR_INVALID_OPERATION));  // nobody takes it
  EXPECT(CUPTI(cuptiActivityRegisterCallbacks)(nullptr, Complete) == CUPTI_ERROR_INVALID_PARAMETER);
  EXPECT(CUPTI(cuptiActivityRegisterCallbacks)(Request, nullptr) == CUPTI_ERROR_INVALID_PARAMETER);
  EXPECT(CUPTI(cuptiActivityRegisterCallbacks)(Request, Complete) == CUPTI_SUCCESS);
  ON_SOFT(EXPECT(CUPTI(cuptiActivityEnable)(kind) == CUPTI_ERROR_INVALID_KIND));
  ON_SOFT(EXPECT(CUPTI(cuptiActivityEnableAndDump)(kind) == CUPTI_ERROR_INVALID_KIND));
  ON_SOFT(EXPECT(CUPTI(cuptiActivityEnableContext)(context, kind) == CUPTI_ERROR_INVALID_KIND));
  Touch<<<1, 32>>>(nullptr);
  EXPECT_OK(cudaDeviceSynchronize());
  ON_SOFT(EXPECT(CUPTI(cuptiActivityDisable)(kind) == CUPTI_ERROR_INVALID_KIND));
  ON_SOFT(EXPECT(CUPTI(cuptiActivityDisableContext)(context, kind) == CUPTI_ERROR_INVALID_KIND));
  EXPECT(CUPTI(cuptiActivityFlushAll)(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) == CUPTI_SUCCESS);
  ON_SOFT(EXPECT(requested == 0 && completed == 0));
}

// effect: cuptiActivityGetNextRecord cuptiActivityGetNumDroppedRecords
void NoRecords() {
  CUpti_Activity* record = nullptr;
  EXPECT(CUPTI(cuptiActivityGetNextRecord)(buffer, 0, &record) == CUPTI_ERROR_MAX_LIMIT_REACHED);
  EXPECT(record == nullptr);
  EXPECT(CUPTI(cuptiActivityGetNextRecord)(nullptr, 0, &record) == CUPTI_ERROR_INVALID_PARAMETER);
  size_t dropped = 7;
  EXPECT(CUPTI(cuptiActivityGetNumDroppedRecords)(nullptr, 0, &dropped) == CUPTI_SUCCESS);
  EXPECT(dropped == 0);
  EXPECT(CUPTI(cuptiActivityGetNumDroppedRecords)(nullptr, 0, nullptr) ==
         CUPTI_ERROR_INVALID_PARAMETER);
}

// effect: cuptiActivityConfigureUnifiedMemoryCounter cuptiActivityEnableHWTrace
void NoCounters() {
  CUpti_ActivityUnifiedMemoryCounterConfig config = {};
  EXPECT(CUPTI(cuptiActivityConfigureUnifiedMemoryCounter)(nullptr, 1) ==
         CUPTI_ERROR_INVALID_PARAMETER);
  ON_SOFT(EXPECT(CUPTI(cuptiActivityConfigureUnifiedMemoryCounter)(&config, 1) ==
                 CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED));
  EXPECT(CUPTI(cuptiActivityEnableHWTrace)(1) == CUPTI_ERROR_NOT_SUPPORTED);
}

// effect: cuptiActivityGetAttribute cuptiActivitySetAttribute
void Attributes() {
  const auto limit = CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT;
  size_t value = 0;
  size_t bytes = sizeof value;
  EXPECT(CUPTI(cuptiActivityGetAttribute)(limit, &bytes, &value) == CUPTI_SUCCESS);
  EXPECT(value == 250 && bytes == sizeof value);
  value = 300;
  EXPECT(CUPTI(cuptiActivitySetAttribute)(limit, &bytes, &value) == CUPTI_SUCCESS);
  value = 0;
  EXPECT(CUPTI(cuptiActivityGetAttribute)(limit, &bytes, &value) == CUPTI_SUCCESS);
  EXPECT(value == 300);
  bytes = 2;
  EXPECT(CUPTI(cuptiActivityGetAttribute)(limit, &bytes, &value) ==
         CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT);
  EXPECT(CUPTI(cuptiActivitySetAttribute)(limit, &bytes, &value) ==
         CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT);
  EXPECT(CUPTI(cuptiActivityGetAttribute)(limit, nullptr, &value) == CUPTI_ERROR_INVALID_PARAMETER);
  EXPECT(CUPTI(cuptiActivitySetAttribute)(limit, &bytes, nullptr) == CUPTI_ERROR_INVALID_PARAMETER);
}

// effect: cuptiActivityPushExternalCorrelationId cuptiActivityPopExternalCorrelationId
void ExternalIds() {
  const auto kind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
  const auto push = CUPTI(cuptiActivityPushExternalCorrelationId);
  const auto pop = CUPTI(cuptiActivityPopExternalCorrelationId);
  uint64_t id = 0;
  EXPECT(push(kind, 5) == CUPTI_SUCCESS && push(kind, 6) == CUPTI_SUCCESS);
  EXPECT(push(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1, 9) == CUPTI_SUCCESS);
  EXPECT(pop(kind, &id) == CUPTI_SUCCESS && id == 6);
  EXPECT(pop(kind, nullptr) == CUPTI_SUCCESS);
  EXPECT(CUPTI(cuptiActivityPopExternalCorrelationId)(kind, &id) == CUPTI_ERROR_QUEUE_EMPTY);
  EXPECT(pop(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1, &id) == CUPTI_SUCCESS && id == 9);
  EXPECT(CUPTI(cuptiActivityPushExternalCorrelationId)(CUPTI_EXTERNAL_CORRELATION_KIND_INVALID,
                                                       1) == CUPTI_ERROR_INVALID_PARAMETER);
}

// effect: cuptiSetThreadIdType cuptiGetThreadIdType
void ThreadIds() {
  auto type = CUPTI_ACTIVITY_THREAD_ID_TYPE_SIZE;
  EXPECT(CUPTI(cuptiGetThreadIdType)(&type) == CUPTI_SUCCESS);
  EXPECT(type == CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT);
  EXPECT(CUPTI(cuptiSetThreadIdType)(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM) == CUPTI_SUCCESS);
  EXPECT(CUPTI(cuptiGetThreadIdType)(&type) == CUPTI_SUCCESS);
  EXPECT(type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  EXPECT(CUPTI(cuptiSetThreadIdType)(CUPTI_ACTIVITY_THREAD_ID_TYPE_SIZE) ==
         CUPTI_ERROR_NOT_SUPPORTED);
  EXPECT(CUPTI(cuptiGetThreadIdType)(nullptr) == CUPTI_ERROR_INVALID_PARAMETER);
}

}  // namespace

int main() {
  EXPECT_OK(cudaFree(nullptr));
  if (conformance::LoadCupti()) {
    NoKinds();
    NoRecords();
    NoCounters();
    Attributes();
    ExternalIds();
    ThreadIds();
  }
  return conformance::Finish("cupti_activity");
}
