// CUPTI's activity API, as far as tools use it when they start. No activity is recorded here: every
// kind is one that isn't supported, and there is nothing to flush.
#include <cupti.h>

#include <cstring>
#include <mutex>

#include "plugins/soft_cuda/abi/api_call.h"

using graphkit::soft::Hub;
using graphkit::soft::SharedState;
using graphkit::soft::TheHub;

namespace {

struct Attribute {
  CUpti_ActivityAttribute id;
  size_t bytes;
  uint64_t initial;
};

// As cupti_activity.h describes them.
constexpr Attribute kAttributes[] = {
    {CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, sizeof(size_t), 3200000},
    {CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE_CDP, sizeof(size_t), 8388608},
    {CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT, sizeof(size_t), 250},
    {CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, sizeof(uint8_t), 0},
    {CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE, sizeof(size_t), 3},
    {CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED, sizeof(uint8_t), 0},
    {CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, sizeof(uint8_t), 1},
    {CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE_DEVICE_GRAPHS, sizeof(size_t), 16777216},
};

// SUCCESS where there is such an attribute and its value fits.
CUptiResult FindAttribute(CUpti_ActivityAttribute id, const size_t* bytes, const void* value,
                          const Attribute** out) {
  if (bytes == nullptr || value == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  for (const Attribute& row : kAttributes) {
    if (row.id != id) continue;
    *out = &row;
    return *bytes < row.bytes ? CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT : CUPTI_SUCCESS;
  }
  return CUPTI_ERROR_INVALID_PARAMETER;
}

bool IsKind(CUpti_ExternalCorrelationKind kind) {
  return kind > CUPTI_EXTERNAL_CORRELATION_KIND_INVALID &&
         kind < CUPTI_EXTERNAL_CORRELATION_KIND_SIZE;
}

}  // namespace

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
                                           CUpti_BuffersCallbackCompleteFunc completed) {
  if (requested == nullptr || completed == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  TheHub().takes_buffers.store(true);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind) { return CUPTI_ERROR_INVALID_KIND; }
CUptiResult cuptiActivityEnableAndDump(CUpti_ActivityKind) { return CUPTI_ERROR_INVALID_KIND; }
CUptiResult cuptiActivityDisable(CUpti_ActivityKind) { return CUPTI_ERROR_INVALID_KIND; }
CUptiResult cuptiActivityEnableContext(CUcontext, CUpti_ActivityKind) {
  return CUPTI_ERROR_INVALID_KIND;
}
CUptiResult cuptiActivityDisableContext(CUcontext, CUpti_ActivityKind) {
  return CUPTI_ERROR_INVALID_KIND;
}

CUptiResult cuptiActivityConfigureUnifiedMemoryCounter(
    CUpti_ActivityUnifiedMemoryCounterConfig* config, uint32_t count) {
  if (config == nullptr || count == 0) return CUPTI_ERROR_INVALID_PARAMETER;
  return CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED;
}

CUptiResult cuptiActivityEnableHWTrace(uint8_t) { return CUPTI_ERROR_NOT_SUPPORTED; }

CUptiResult cuptiActivityFlushAll(uint32_t) {
  return TheHub().takes_buffers.load() ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
}

CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t, CUpti_Activity** record) {
  if (buffer == nullptr || record == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  return CUPTI_ERROR_MAX_LIMIT_REACHED;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped) {
  if (dropped == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *dropped = 0;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetAttribute(CUpti_ActivityAttribute id, size_t* bytes, void* value) {
  const Attribute* row = nullptr;
  if (CUptiResult error = FindAttribute(id, bytes, value, &row); error != CUPTI_SUCCESS)
    return error;
  Hub& hub = TheHub();
  const std::lock_guard lock(hub.mutex);
  const auto set = hub.activity_attributes.find(id);
  const uint64_t found = set != hub.activity_attributes.end() ? set->second : row->initial;
  std::memcpy(value, &found, row->bytes);
  *bytes = row->bytes;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute id, size_t* bytes, void* value) {
  const Attribute* row = nullptr;
  if (CUptiResult error = FindAttribute(id, bytes, value, &row); error != CUPTI_SUCCESS)
    return error;
  Hub& hub = TheHub();
  const std::lock_guard lock(hub.mutex);
  std::memcpy(&hub.activity_attributes[id], value, row->bytes);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                                   uint64_t id) {
  if (!IsKind(kind)) return CUPTI_ERROR_INVALID_PARAMETER;
  SharedState().thread()->external_ids[kind].push_back(id);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                                  uint64_t* last) {
  if (!IsKind(kind)) return CUPTI_ERROR_INVALID_PARAMETER;
  auto& ids = SharedState().thread()->external_ids[kind];
  if (ids.empty()) return CUPTI_ERROR_QUEUE_EMPTY;
  if (last != nullptr) *last = ids.back();
  ids.pop_back();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type) {
  if (type < CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT || type >= CUPTI_ACTIVITY_THREAD_ID_TYPE_SIZE)
    return CUPTI_ERROR_NOT_SUPPORTED;
  TheHub().thread_id_type.store(type);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetThreadIdType(CUpti_ActivityThreadIdType* type) {
  if (type == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *type = static_cast<CUpti_ActivityThreadIdType>(TheHub().thread_id_type.load());
  return CUPTI_SUCCESS;
}
