// Ids, times, versions and names.
#include <cupti.h>

#include "plugins/soft_cuda/abi/api_call.h"
#include "plugins/soft_cuda/cupti/names.h"

using graphkit::soft::SharedState;

namespace {

CUptiResult Checked(bool found) { return found ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER; }

}  // namespace

CUptiResult cuptiGetVersion(uint32_t* version) {
  if (version == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *version = graphkit::soft::kCuptiVersion.number;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetTimestamp(uint64_t* timestamp) {
  if (timestamp == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *timestamp = SharedState().host_time();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid, const char** name) {
  if (name == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  const char* found = graphkit::soft::CallbackName(domain, cbid);
  if (found != nullptr) *name = found;
  return Checked(found != nullptr);
}

CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  if (text == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  const char* found = graphkit::soft::ResultName(result);
  if (found != nullptr) *text = found;
  return Checked(found != nullptr);
}

CUptiResult cuptiGetErrorMessage(CUptiResult result, const char** text) {
  return cuptiGetResultString(result, text);
}

CUptiResult cuptiGetGraphId(CUgraph graph, uint32_t* id) {
  return Checked(id != nullptr && SharedState().graph_id(graph, id));
}
CUptiResult cuptiGetGraphNodeId(CUgraphNode node, uint64_t* id) {
  return Checked(id != nullptr && SharedState().node_id(node, id));
}
CUptiResult cuptiGetGraphExecId(CUgraphExec exec, uint32_t* id) {
  return Checked(id != nullptr && SharedState().exec_id(exec, id));
}
CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t per_thread,
                               uint32_t* id) {
  if (id == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  return SharedState().stream_id(context, stream, per_thread != 0, id) ? CUPTI_SUCCESS
                                                                       : CUPTI_ERROR_INVALID_STREAM;
}
CUptiResult cuptiGetStreamId(CUcontext context, CUstream stream, uint32_t* id) {
  return cuptiGetStreamIdEx(context, stream, 0, id);
}
CUptiResult cuptiGetContextId(CUcontext context, uint32_t* id) {
  if (id == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  return SharedState().context_id(context, id) ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_CONTEXT;
}
CUptiResult cuptiGetDeviceId(CUcontext context, uint32_t* id) {
  if (id == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  return SharedState().device_id(context, id) ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_DEVICE;
}
