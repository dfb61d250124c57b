#include "plugins/soft_cuda/driver/rules/node_params.h"

#include <algorithm>

#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/rules/copy_rules.h"
#include "plugins/soft_cuda/driver/rules/launch_rules.h"
#include "plugins/soft_cuda/model/execute.h"
#include "plugins/soft_cuda/model/external_memory.h"

namespace graphkit::soft::driver {

CUcontext CurrentHandle() {
  Context* context = CurrentContext();
  return context != nullptr ? context->handle() : nullptr;
}

void KeepAttributes(const Node& node, NodeParams* params) {
  if (auto* kernel = std::get_if<std::unique_ptr<KernelParams>>(params))
    (*kernel)->attributes = std::get<std::unique_ptr<KernelParams>>(node.params)->attributes;
}

void KeepArgumentMemory(Node* node, NodeParams* params) {
  auto* kernel = std::get_if<std::unique_ptr<KernelParams>>(params);
  if (kernel == nullptr) return;
  KernelParams& old = *std::get<std::unique_ptr<KernelParams>>(node->params);
  KernelArguments& arguments = (*kernel)->arguments;
  const bool buffer = old.arguments.as_buffer || arguments.as_buffer;
  if (buffer || old.function != (*kernel)->function || old.arguments.size != arguments.size) return;
  std::copy_n(arguments.bytes.get(), arguments.size, old.arguments.bytes.get());
  arguments = std::move(old.arguments);
}

namespace {

CUresult ReadKernel(const CUDA_KERNEL_NODE_PARAMS_v3& from, NodeParams* out) {
  auto* function = Resolve<Function>(from.func);
  if (function == nullptr) function = Resolve<Function>(from.kern);
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  auto params = std::make_unique<KernelParams>();
  params->function = function;
  params->context = from.ctx != nullptr ? from.ctx : CurrentHandle();
  params->shape = {{from.gridDimX, from.gridDimY, from.gridDimZ},
                   {from.blockDimX, from.blockDimY, from.blockDimZ},
                   from.sharedMemBytes};
  if (CUresult error = CheckShape(params->shape); error != CUDA_SUCCESS) return error;
  if (CUresult error = CheckFunction(*function, params->shape); error != CUDA_SUCCESS) return error;
  const CUresult copied =
      CopyArguments(*function, from.kernelParams, from.extra, &params->arguments);
  *out = std::move(params);
  return copied;
}

CUresult ReadMemcpy(const CUDA_MEMCPY3D& copy, CUcontext context, NodeParams* out) {
  if (CopyBytes(copy) == 0) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult error = CheckCopy(copy); error != CUDA_SUCCESS) return error;
  *out = std::make_unique<MemcpyParams>(MemcpyParams{WithRows(copy), context});
  return CUDA_SUCCESS;
}

CUresult ReadMemset(const CUDA_MEMSET_NODE_PARAMS_v2& from, NodeParams* out) {
  const CUDA_MEMSET_NODE_PARAMS set{from.dst,         from.pitch, from.value,
                                    from.elementSize, from.width, from.height};
  const bool element = set.elementSize == 1 || set.elementSize == 2 || set.elementSize == 4;
  if (!element || set.width == 0 || set.height == 0 || !CanSet(set))
    return CUDA_ERROR_INVALID_VALUE;
  *out = std::make_unique<MemsetParams>(MemsetParams{set, from.ctx});
  return CUDA_SUCCESS;
}

CUresult ReadHost(CUhostFn function, void* user_data, NodeParams* out) {
  if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *out = HostParams{function, user_data};
  return CUDA_SUCCESS;
}

CUresult ReadEvent(CUevent handle, NodeParams* out) {
  auto* event = Resolve<Event>(handle);
  if (event == nullptr)
    return handle == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
  *out = EventParams{event};
  return CUDA_SUCCESS;
}

template <typename To, typename From>
CUresult ReadSemaphores(const From& from, NodeParams* out) {
  const unsigned count = from.numExtSems;
  if (count > 0 && (from.extSemArray == nullptr || from.paramsArray == nullptr))
    return CUDA_ERROR_INVALID_VALUE;
  auto params = std::make_unique<To>();
  params->semaphores.assign(from.extSemArray, from.extSemArray + count);
  params->values.assign(from.paramsArray, from.paramsArray + count);
  // A node takes null, by others' measurement.
  const bool known = std::all_of(
      params->semaphores.begin(), params->semaphores.end(),
      [](CUexternalSemaphore s) { return s == nullptr || Resolve<Semaphore>(s) != nullptr; });
  *out = std::move(params);
  return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult ReadBatch(const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2& from, NodeParams* out) {
  constexpr unsigned kMostOperations = 256;  // of one call, by the documentation of the stream form
  const bool listed = from.paramArray != nullptr && from.count > 0;
  if (!listed || from.count > kMostOperations || from.flags != 0) return CUDA_ERROR_INVALID_VALUE;
  auto params = std::make_unique<BatchParams>();
  params->context = from.ctx;
  params->operations.assign(from.paramArray, from.paramArray + from.count);
  params->flags = from.flags;
  *out = std::move(params);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult ReadParams(const CUgraphNodeParams& from, NodeParams* out) {
  switch (from.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return ReadKernel(from.kernel, out);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return ReadMemcpy(from.memcpy.copyParams, from.memcpy.copyCtx, out);
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return ReadMemset(from.memset, out);
    case CU_GRAPH_NODE_TYPE_HOST:
      return ReadHost(from.host.fn, from.host.userData, out);
    case CU_GRAPH_NODE_TYPE_EMPTY:
      *out = std::monostate{};
      return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return ReadEvent(from.eventWait.event, out);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return ReadEvent(from.eventRecord.event, out);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
      return ReadSemaphores<SignalParams>(from.extSemSignal, out);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
      return ReadSemaphores<WaitParams>(from.extSemWait, out);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      return ReadBatch(from.memOp, out);
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

namespace {

CUgraphNodeParams OfType(CUgraphNodeType type) {
  CUgraphNodeParams any{};
  any.type = type;
  return any;
}

}  // namespace

CUgraphNodeParams AnyParams(const CUDA_KERNEL_NODE_PARAMS_v1& p) {
  CUgraphNodeParams any = OfType(CU_GRAPH_NODE_TYPE_KERNEL);
  any.kernel = {p.func,      p.gridDimX,       p.gridDimY,     p.gridDimZ, p.blockDimX, p.blockDimY,
                p.blockDimZ, p.sharedMemBytes, p.kernelParams, p.extra,    nullptr,     nullptr};
  return any;
}

CUgraphNodeParams AnyParams(const CUDA_KERNEL_NODE_PARAMS_v2& p) {
  CUgraphNodeParams any = OfType(CU_GRAPH_NODE_TYPE_KERNEL);
  any.kernel = {p.func,      p.gridDimX,       p.gridDimY,     p.gridDimZ, p.blockDimX, p.blockDimY,
                p.blockDimZ, p.sharedMemBytes, p.kernelParams, p.extra,    p.kern,      p.ctx};
  return any;
}

CUgraphNodeParams AnyParams(const CUDA_MEMCPY3D& copy, CUcontext context) {
  CUgraphNodeParams any = OfType(CU_GRAPH_NODE_TYPE_MEMCPY);
  any.memcpy.copyParams = copy;
  any.memcpy.copyCtx = context;
  return any;
}

CUgraphNodeParams AnyParams(const CUDA_MEMSET_NODE_PARAMS& s, CUcontext context) {
  CUgraphNodeParams any = OfType(CU_GRAPH_NODE_TYPE_MEMSET);
  any.memset = {s.dst, s.pitch, s.value, s.elementSize, s.width, s.height, context};
  return any;
}

CUgraphNodeParams AnyParams(const CUDA_HOST_NODE_PARAMS& p) {
  CUgraphNodeParams any = OfType(CU_GRAPH_NODE_TYPE_HOST);
  any.host.fn = p.fn;
  any.host.userData = p.userData;
  return any;
}

CUgraphNodeParams AnyParams(const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS& p) {
  CUgraphNodeParams any = OfType(CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL);
  any.extSemSignal = {p.extSemArray, p.paramsArray, p.numExtSems};
  return any;
}

CUgraphNodeParams AnyParams(const CUDA_EXT_SEM_WAIT_NODE_PARAMS& p) {
  CUgraphNodeParams any = OfType(CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT);
  any.extSemWait = {p.extSemArray, p.paramsArray, p.numExtSems};
  return any;
}

CUgraphNodeParams AnyParams(const CUDA_BATCH_MEM_OP_NODE_PARAMS& p) {
  CUgraphNodeParams any = OfType(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
  any.memOp = {p.ctx, p.count, p.paramArray, p.flags};
  return any;
}

CUgraphNodeParams EventRecordParams(CUevent event) {
  CUgraphNodeParams any = OfType(CU_GRAPH_NODE_TYPE_EVENT_RECORD);
  any.eventRecord.event = event;
  return any;
}

CUgraphNodeParams EventWaitParams(CUevent event) {
  CUgraphNodeParams any = OfType(CU_GRAPH_NODE_TYPE_WAIT_EVENT);
  any.eventWait.event = event;
  return any;
}

}  // namespace graphkit::soft::driver
