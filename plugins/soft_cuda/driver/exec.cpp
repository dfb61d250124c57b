// Clones, execs and their launches.
#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/graph_memory.h"
#include "plugins/soft_cuda/driver/submit.h"

namespace graphkit::soft::driver {
namespace {

constexpr unsigned long long kFlags = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                                      CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
                                      CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;

Graph* FindExec(CUgraphExec handle) {
  auto* exec = Resolve<Graph>(handle);
  return exec != nullptr && exec->kind == GraphKind::kExec ? exec : nullptr;
}

CUresult Instantiate(CUgraphExec* out, CUgraph handle, unsigned long long flags) {
  auto* graph = Resolve<Graph>(handle);
  if (out == nullptr || graph == nullptr || graph->kind != GraphKind::kUser || graph->capturing) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if ((flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0) return CUDA_ERROR_NOT_SUPPORTED;
  if ((flags & ~kFlags) != 0) return CUDA_ERROR_INVALID_VALUE;
  Context* context = CurrentContext();
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *out = Device::Get().graphs.Instantiate(graph, flags, context->handle())->exec_handle();
  return CUDA_SUCCESS;
}

// Allocations of an earlier launch that nobody freed: an error, unless the exec frees them itself.
CUresult SettleAllocations(const Graph& exec) {
  if (exec.memory_nodes == 0 || !AnyAllocationLive(exec)) return CUDA_SUCCESS;
  if ((exec.flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) == 0)
    return CUDA_ERROR_INVALID_VALUE;
  for (const Node* node : exec.nodes) {
    const auto* p = std::get_if<std::unique_ptr<MemAllocParams>>(&node->params);
    if (p != nullptr) MarkGraphAllocation((*p)->params.dptr, false);
  }
  return CUDA_SUCCESS;
}

// A launch into a capturing stream becomes a child graph node.
CUresult CaptureLaunch(Lock& lock, Stream* stream, Graph* exec) {
  if (exec->memory_nodes > 0) return CUDA_ERROR_NOT_SUPPORTED;
  Graph* body = Device::Get().graphs.Clone(exec, GraphKind::kChild);
  const CUresult result = Submit(lock, stream, CU_GRAPH_NODE_TYPE_GRAPH, ChildParams{body});
  body->parent = stream->dependencies.front().node;
  return result;
}

}  // namespace

CUresult GraphClone(CUgraph* out, CUgraph handle) {
  const Lock lock = LockDevice();
  auto* graph = Resolve<Graph>(handle);
  if (out == nullptr || graph == nullptr || graph->kind == GraphKind::kExec)
    return CUDA_ERROR_INVALID_VALUE;
  if (graph->memory_nodes > 0) return CUDA_ERROR_NOT_SUPPORTED;
  *out = Device::Get().graphs.Clone(graph, GraphKind::kUser)->handle();
  return CUDA_SUCCESS;
}

CUresult GraphNodeFindInClone(CUgraphNode* out, CUgraphNode original_handle, CUgraph clone_handle) {
  const Lock lock = LockDevice();
  auto* original = Resolve<Node>(original_handle);
  auto* clone = Resolve<Graph>(clone_handle);
  if (out == nullptr || original == nullptr || clone == nullptr) return CUDA_ERROR_INVALID_VALUE;
  for (Node* node : clone->nodes) {
    if (node == nullptr || node->original != original) continue;
    *out = node->handle();
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult GraphInstantiateWithFlags(CUgraphExec* out, CUgraph graph, unsigned long long flags) {
  const Lock lock = LockDevice();
  if ((flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) != 0) return CUDA_ERROR_INVALID_VALUE;
  return Instantiate(out, graph, flags);
}

CUresult GraphInstantiateWithParams(CUgraphExec* out, CUgraph graph,
                                    CUDA_GRAPH_INSTANTIATE_PARAMS* params) {
  if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Lock lock = LockDevice();
  const CUresult result = Instantiate(out, graph, params->flags);
  params->hErrNode_out = nullptr;
  params->result_out =
      result == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR;
  return result;
}

CUresult GraphExecGetFlags(CUgraphExec handle, cuuint64_t* flags) {
  const Lock lock = LockDevice();
  const Graph* exec = FindExec(handle);
  if (exec == nullptr || flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *flags = exec->flags;
  return CUDA_SUCCESS;
}

CUresult GraphExecDestroy(CUgraphExec handle) {
  const Lock lock = LockDevice();
  Graph* exec = FindExec(handle);
  if (exec == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Device::Get().graphs.DestroyExec(exec);
  return CUDA_SUCCESS;
}

CUresult GraphUpload(CUgraphExec handle, CUstream stream_handle) {
  const Lock lock = LockDevice();
  if (FindExec(handle) == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Stream* stream = nullptr;
  if (CUresult error = StreamForWork(stream_handle, &stream); error != CUDA_SUCCESS) return error;
  return stream->capture == nullptr ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUresult GraphLaunch(CUgraphExec handle, CUstream stream_handle) {
  Lock lock = LockDevice();
  Graph* exec = FindExec(handle);
  if (exec == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Stream* stream = nullptr;
  if (CUresult error = StreamForWork(stream_handle, &stream); error != CUDA_SUCCESS) return error;
  if (stream->capture != nullptr) return CaptureLaunch(lock, stream, exec);
  if (CUresult error = SettleAllocations(*exec); error != CUDA_SUCCESS) return error;
  return RunGraph(lock, stream, exec);
}

}  // namespace graphkit::soft::driver
