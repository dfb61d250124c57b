#include "plugins/soft_cuda/driver/submit.h"

#include <algorithm>
#include <utility>

#include "plugins/soft_cuda/driver/explain.h"
#include "plugins/soft_cuda/driver/graph_memory.h"
#include "plugins/soft_cuda/driver/graph_rules.h"
#include "plugins/soft_cuda/model/execute.h"
#include "plugins/soft_cuda/model/semaphore.h"

namespace graphkit::soft::driver {

CUresult StreamForWork(CUstream handle, Stream** stream) {
  if (CurrentThread().in_host_function) return CUDA_ERROR_NOT_PERMITTED;
  if (CurrentContext() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *stream = FindStream(handle);
  if (*stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if ((*stream)->kind == StreamKind::kLegacy && Device::Get().captures.any()) {
    return Device::Get().captures.CheckLegacy((*stream)->context);
  }
  const Capture* capture = (*stream)->capture;
  return capture != nullptr && !capture->valid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                                               : CUDA_SUCCESS;
}

void Advance(Stream* stream, uint64_t ns) {
  if (stream->blocking()) {
    const bool legacy = stream->kind == StreamKind::kLegacy;
    for (const Stream* other : stream->context->streams) {
      const bool waits = legacy ? other->blocking() : other->kind == StreamKind::kLegacy;
      if (waits) stream->time_ns = std::max(stream->time_ns, other->time_ns);
    }
  }
  stream->time_ns = std::max(stream->time_ns, Device::Get().host_time_ns) + ns;
}

void HostWaits(uint64_t until_ns) {
  uint64_t& now = Device::Get().host_time_ns;
  now = std::max(now, until_ns);
}

namespace {

void CallHost(Lock& lock, const HostParams& host) {
  ThreadState& thread = CurrentThread();
  lock.unlock();
  thread.in_host_function = true;
  host.function(host.user_data);
  thread.in_host_function = false;
  lock.lock();
}

// A wait that nothing in the model can end.
CUresult StuckWait() {
  Explain(
      "a batch memory operation waits for a value that nothing will write: kernels don't run here, "
      "and work is done in the order of the calls");
  return CUDA_ERROR_LAUNCH_TIMEOUT;
}

// Runs the body that the handle's value chooses. Kernels, which would set the value, don't run.
CUresult RunConditional(Lock& lock, Stream* stream, const ConditionalParams& p) {
  const ConditionalHandle* handle = FindHandle(p.bodies.front(), p.handle);
  const unsigned value = handle != nullptr ? handle->value : 0;
  size_t body = value;
  if (p.kind == CU_GRAPH_COND_TYPE_IF) body = value != 0 ? 0 : 1;
  if (p.kind == CU_GRAPH_COND_TYPE_WHILE) body = value != 0 ? 0 : p.bodies.size();
  if (body >= p.bodies.size()) return CUDA_SUCCESS;
  const CUresult result = RunGraph(lock, stream, p.bodies[body]);
  if (p.kind != CU_GRAPH_COND_TYPE_WHILE || result != CUDA_SUCCESS) return result;
  Explain(
      "a WHILE node would loop for ever: its handle starts with a value other than 0, and the "
      "kernel that would set it to 0 doesn't run here; its body was run once");
  return CUDA_ERROR_LAUNCH_TIMEOUT;
}

struct Runner {
  Lock& lock;
  Stream* stream;

  CUresult operator()(const std::monostate&) const { return CUDA_SUCCESS; }
  CUresult operator()(const std::unique_ptr<KernelParams>&) const { return CUDA_SUCCESS; }
  CUresult operator()(const std::unique_ptr<MemcpyParams>& p) const {
    return RunCopy(p->copy) ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
  }
  CUresult operator()(const std::unique_ptr<MemsetParams>& p) const {
    RunSet(p->set);
    return CUDA_SUCCESS;
  }
  CUresult operator()(const HostParams& p) const {
    CallHost(lock, p);
    return CUDA_SUCCESS;
  }
  CUresult operator()(const ChildParams& p) const { return RunGraph(lock, stream, p.graph); }
  CUresult operator()(const std::unique_ptr<SignalParams>& p) const {
    for (size_t i = 0; i < p->semaphores.size(); ++i) {
      if (auto* semaphore = Resolve<Semaphore>(p->semaphores[i]))
        semaphore->value = p->values[i].params.fence.value;
    }
    return CUDA_SUCCESS;
  }
  CUresult operator()(const std::unique_ptr<WaitParams>&) const { return CUDA_SUCCESS; }
  CUresult operator()(const std::unique_ptr<BatchParams>& p) const {
    return RunBatch(p->operations) ? CUDA_SUCCESS : StuckWait();
  }
  CUresult operator()(const std::unique_ptr<ConditionalParams>& p) const {
    return RunConditional(lock, stream, *p);
  }
  CUresult operator()(const EventParams&) const { return CUDA_SUCCESS; }
  CUresult operator()(const std::unique_ptr<MemAllocParams>& p) const {
    MarkGraphAllocation(p->params.dptr, true);
    return CUDA_SUCCESS;
  }
  CUresult operator()(const MemFreeParams& p) const {
    MarkGraphAllocation(p.address, false);
    return CUDA_SUCCESS;
  }
};

void RecordNodeEvent(Stream* stream, const Node& node) {
  Event* event = std::get<EventParams>(node.params).event;
  if (event->tag != Event::kTag) return;  // destroyed since
  if (node.type == CU_GRAPH_NODE_TYPE_EVENT_RECORD) {
    event->recorded = true;
    event->capture = 0;
    event->time_ns = stream->time_ns;
  } else {
    stream->time_ns = std::max(stream->time_ns, event->time_ns);
  }
}

}  // namespace

CUresult Run(Lock& lock, Stream* stream, const NodeParams& params) {
  Advance(stream, DurationNs(params));
  return std::visit(Runner{lock, stream}, params);
}

CUresult RunGraph(Lock& lock, Stream* stream, Graph* graph) {
  for (const Node* node : graph->order) {
    if (!node->enabled) continue;
    if (std::holds_alternative<EventParams>(node->params)) RecordNodeEvent(stream, *node);
    if (CUresult error = Run(lock, stream, node->params); error != CUDA_SUCCESS) return error;
  }
  return CUDA_SUCCESS;
}

CUresult Submit(Lock& lock, Stream* stream, CUgraphNodeType type, NodeParams params) {
  if (stream->capture == nullptr) return Run(lock, stream, params);
  if (InBody(*stream->capture->graph) && !IsBodyType(type)) return CUDA_ERROR_NOT_SUPPORTED;
  std::vector<Edge> full = stream->dependencies;
  for (Edge& e : full) e.data = {};  // what isn't a kernel waits for completion (not seen on a GPU)
  Device::Get().captures.AddNode(stream, type, std::move(params), full);
  return CUDA_SUCCESS;
}

CUresult Submit(Lock& lock, CUstream handle, CUgraphNodeType type, NodeParams params) {
  Stream* stream = nullptr;
  if (CUresult error = StreamForWork(handle, &stream); error != CUDA_SUCCESS) return error;
  return Submit(lock, stream, type, std::move(params));
}

}  // namespace graphkit::soft::driver
