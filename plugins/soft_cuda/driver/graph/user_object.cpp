// User objects and the references that graphs hold; conditional handles.
#include <algorithm>
#include <climits>

#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/rules/graph_rules.h"
#include "plugins/soft_cuda/driver/stream/leftovers.h"

namespace graphkit::soft::driver {
namespace {

bool IsCount(unsigned count) { return count > 0 && count <= INT_MAX; }

HeldObject* FindHeld(Graph* graph, const UserObject* object) {
  auto at = std::find_if(graph->objects.begin(), graph->objects.end(),
                         [object](const HeldObject& h) { return h.object == object; });
  return at != graph->objects.end() ? &*at : nullptr;
}

}  // namespace

CUresult UserObjectCreate(CUuserObject* out, void* pointer, CUhostFn destroy, unsigned int count,
                          unsigned int flags) {
  if (out == nullptr || destroy == nullptr || !IsCount(count) ||
      flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const Lock lock = LockDevice();
  *out = Device::Get().graphs.MakeObject(pointer, destroy, count)->handle();
  return CUDA_SUCCESS;
}

CUresult UserObjectRetain(CUuserObject handle, unsigned int count) {
  const Lock lock = LockDevice();
  auto* object = Resolve<UserObject>(handle);
  if (object == nullptr || !IsCount(count)) return CUDA_ERROR_INVALID_VALUE;
  Device::Get().graphs.Retain(object, count);
  return CUDA_SUCCESS;
}

CUresult UserObjectRelease(CUuserObject handle, unsigned int count) {
  Lock lock = LockDevice();
  auto* object = Resolve<UserObject>(handle);
  if (object == nullptr || !IsCount(count) || object->references < count)
    return CUDA_ERROR_INVALID_VALUE;
  Device::Get().graphs.Release(object, count);
  Settle(lock);
  return CUDA_SUCCESS;
}

CUresult GraphRetainUserObject(CUgraph graph_handle, CUuserObject handle, unsigned int count,
                               unsigned int flags) {
  const Lock lock = LockDevice();
  auto* graph = Resolve<Graph>(graph_handle);
  auto* object = Resolve<UserObject>(handle);
  if (!IsEditable(graph) || object == nullptr || !IsCount(count) ||
      (flags & ~unsigned{CU_GRAPH_USER_OBJECT_MOVE}) != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (flags == 0) Device::Get().graphs.Retain(object, count);
  if (HeldObject* held = FindHeld(graph, object)) {
    held->references += count;
  } else {
    graph->objects.push_back({object, count});
  }
  return CUDA_SUCCESS;
}

CUresult GraphReleaseUserObject(CUgraph graph_handle, CUuserObject handle, unsigned int count) {
  Lock lock = LockDevice();
  auto* graph = Resolve<Graph>(graph_handle);
  auto* object = Resolve<UserObject>(handle);
  HeldObject* held = IsEditable(graph) && object != nullptr ? FindHeld(graph, object) : nullptr;
  if (held == nullptr || !IsCount(count) || held->references < count)
    return CUDA_ERROR_INVALID_VALUE;
  held->references -= count;
  if (held->references == 0)
    graph->objects.erase(graph->objects.begin() + (held - graph->objects.data()));
  Device::Get().graphs.Release(object, count);
  Settle(lock);
  return CUDA_SUCCESS;
}

CUresult GraphConditionalHandleCreate(CUgraphConditionalHandle* out, CUgraph graph_handle,
                                      CUcontext context, unsigned int value, unsigned int flags) {
  const Lock lock = LockDevice();
  if (Resolve<Context>(context) == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  auto* graph = Resolve<Graph>(graph_handle);
  if (out == nullptr || !IsEditable(graph) ||
      (flags & ~unsigned{CU_GRAPH_COND_ASSIGN_DEFAULT}) != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *out = Device::Get().graphs.NextHandle();
  // Without a default the value is what a kernel has set; no kernel runs, so it stays 0.
  graph->handles.push_back({*out, flags == CU_GRAPH_COND_ASSIGN_DEFAULT ? value : 0});
  return CUDA_SUCCESS;
}

}  // namespace graphkit::soft::driver
