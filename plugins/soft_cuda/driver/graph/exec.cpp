// Clones, execs and their launches.
#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/rules/graph_rules.h"
#include "plugins/soft_cuda/driver/stream/graph_memory.h"
#include "plugins/soft_cuda/driver/stream/leftovers.h"
#include "plugins/soft_cuda/driver/stream/run_graph.h"
#include "plugins/soft_cuda/driver/stream/submit.h"
#include "plugins/soft_cuda/model/exec_memory.h"

namespace graphkit::soft::driver {
Graph* FindExec(CUgraphExec handle) {
  auto* exec = Resolve<Graph>(handle);
  return exec != nullptr && exec->kind == GraphKind::kExec ? exec : nullptr;
}

namespace {

// Allocations of an earlier launch that are not freed: an error, unless the exec frees them itself.
CUresult SettleAllocations(const Graph& exec) {
  if (exec.memory_nodes == 0 || !AnyAllocationLive(exec)) return CUDA_SUCCESS;
  if ((exec.flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) == 0)
    return CUDA_ERROR_INVALID_VALUE;
  FreeAllocations(exec);
  return CUDA_SUCCESS;
}

// A capture can't record an exec: the call ends it.
CUresult RefuseInCapture(const Stream& stream) {
  if (stream.capture == nullptr) return CUDA_SUCCESS;
  Device::Get().captures.Invalidate(stream.capture);
  return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

}  // namespace

CUresult GraphClone(CUgraph* out, CUgraph handle) {
  const Lock lock = LockDevice();
  auto* graph = Resolve<Graph>(handle);
  if (out == nullptr || graph == nullptr || graph->kind == GraphKind::kExec)
    return CUDA_ERROR_INVALID_VALUE;
  if (graph->memory_nodes > 0 || graph->conditional_nodes > 0) return CUDA_ERROR_NOT_SUPPORTED;
  *out = Device::Get().graphs.Clone(graph, GraphKind::kUser)->handle();
  return CUDA_SUCCESS;
}

CUresult GraphNodeFindInClone(CUgraphNode* out, CUgraphNode original_handle, CUgraph clone_handle) {
  const Lock lock = LockDevice();
  auto* original = Resolve<Node>(original_handle);
  auto* clone = Resolve<Graph>(clone_handle);
  if (out == nullptr || original == nullptr || clone == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Node* node = FindCopy(clone, original);
  if (node == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *out = node->handle();
  return CUDA_SUCCESS;
}

CUresult GraphExecGetFlags(CUgraphExec handle, cuuint64_t* flags) {
  const Lock lock = LockDevice();
  const Graph* exec = FindExec(handle);
  if (exec == nullptr || flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *flags = exec->flags & ~cuuint64_t{CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY};
  return CUDA_SUCCESS;
}

CUresult GraphExecDestroy(CUgraphExec handle) {
  Lock lock = LockDevice();
  Graph* exec = FindExec(handle);
  if (exec == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Device::Get().graphs.DestroyExec(exec);
  Settle(lock);
  return CUDA_SUCCESS;
}

CUresult GraphUpload(CUgraphExec handle, CUstream stream_handle) {
  const Lock lock = LockDevice();
  Graph* exec = FindExec(handle);
  if (exec == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Stream* stream = nullptr;
  if (CUresult error = StreamForWork(stream_handle, &stream); error != CUDA_SUCCESS) return error;
  if (CUresult error = RefuseInCapture(*stream); error != CUDA_SUCCESS) return error;
  if (!TakeUploadMemory(exec)) return CUDA_ERROR_OUT_OF_MEMORY;
  if (exec->memory_nodes == 0) return CUDA_SUCCESS;
  const CUresult result = MapAllocations(*exec, *stream);
  UnmapFreed(*exec, *stream);
  return result;
}

CUresult GraphLaunch(CUgraphExec handle, CUstream stream_handle) {
  const Lock lock = LockDevice();
  Graph* exec = FindExec(handle);
  if (exec == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Stream* stream = nullptr;
  if (CUresult error = StreamForWork(stream_handle, &stream); error != CUDA_SUCCESS) return error;
  if (CUresult error = RefuseInCapture(*stream); error != CUDA_SUCCESS) return error;
  if (!TakeUploadMemory(exec)) return CUDA_ERROR_OUT_OF_MEMORY;
  if (CUresult error = SettleAllocations(*exec); error != CUDA_SUCCESS) return error;
  if (exec->memory_nodes > 0) {
    if (CUresult error = MapAllocations(*exec, *stream); error != CUDA_SUCCESS) return error;
  }
  const CUresult result = RunGraph(stream, exec);
  if (exec->memory_nodes > 0) UnmapFreed(*exec, *stream);
  WorkMark end = End(stream);
  if (end.line != nullptr) Device::Get().launches.push_back(std::move(end));
  return CheckMemory(result);
}

}  // namespace graphkit::soft::driver
