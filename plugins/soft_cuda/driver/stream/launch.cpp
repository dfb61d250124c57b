// Kernel launches and host functions. A captured launch becomes a kernel node; its launch
// attributes become the edge data of its incoming edges, and of those that leave through a
// programmatic or launch-completion event.
//
//   attribute of the secondary   ProgrammaticStreamSerialization  edge from a kernel: Programmatic,
//   port 1 attribute of the primary     ProgrammaticEvent                edge to the waiter:
//   Programmatic, port 1,
//                                                                 port 2 with triggerAtBlockStart
//   attribute of the primary     LaunchCompletionEvent            edge to the waiter: Default, port
//   2 (read from the
//                                                                 headers, not seen on a GPU)
#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/device/properties.h"
#include "plugins/soft_cuda/driver/rules/launch_rules.h"
#include "plugins/soft_cuda/driver/rules/node_params.h"
#include "plugins/soft_cuda/driver/stream/duration.h"
#include "plugins/soft_cuda/driver/stream/kernel_memory.h"
#include "plugins/soft_cuda/driver/stream/submit.h"

namespace graphkit::soft::driver {
namespace {

constexpr CUgraphEdgeData EdgeData(int port, int type) {
  CUgraphEdgeData data{};
  data.from_port = static_cast<unsigned char>(port);
  data.type = static_cast<unsigned char>(type);
  return data;
}

struct Launch {
  CUfunction handle;
  Function* function;
  LaunchShape shape;
  void** kernel_params;
  void** extra;
  std::span<const CUlaunchAttribute> attributes;
};

const CUlaunchAttribute* FindAttribute(const Launch& launch, CUlaunchAttributeID id) {
  for (const CUlaunchAttribute& a : launch.attributes) {
    if (a.id == id) return &a;
  }
  return nullptr;
}

bool Serializes(const Launch& launch) {
  const auto* a = FindAttribute(launch, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
  return a != nullptr && a->value.programmaticStreamSerializationAllowed != 0 && HasEdgeData();
}

// Edges from kernels become programmatic ones where the launch allows that, partial ones too.
std::vector<Edge> KernelDependencies(const Stream& stream, const Launch& launch) {
  std::vector<Edge> edges = stream.dependencies.edges();
  if (!Serializes(launch)) return edges;
  for (Edge& e : edges) {
    if (e.node->type == CU_GRAPH_NODE_TYPE_KERNEL) {
      e.data =
          EdgeData(CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
    }
  }
  return edges;
}

// The event of an attribute is recorded by the launch, at a point before the kernel's completion.
CUresult RecordEvent(Stream* stream, CUevent handle, CUgraphEdgeData data, Node* node) {
  auto* event = Resolve<Event>(handle);
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (event->timing()) return CUDA_ERROR_INVALID_VALUE;
  event->recorded = true;
  event->time_ns = stream->time_ns;
  event->capture = node != nullptr ? stream->capture->id : 0;
  event->points.clear();
  if (node != nullptr) event->points.push_back({node, data});
  return CUDA_SUCCESS;
}

CUresult RecordEvents(Stream* stream, const Launch& launch, Node* node) {
  if (const auto* a = FindAttribute(launch, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT)) {
    const auto& p = a->value.programmaticEvent;
    const int port = p.triggerAtBlockStart ? CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER
                                           : CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
    const CUgraphEdgeData data =
        HasEdgeData() ? EdgeData(port, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC) : CUgraphEdgeData{};
    if (CUresult error = RecordEvent(stream, p.event, data, node); error != CUDA_SUCCESS)
      return error;
  }
  if (const auto* a = FindAttribute(launch, CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)) {
    const CUgraphEdgeData data =
        EdgeData(CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER, CU_GRAPH_DEPENDENCY_TYPE_DEFAULT);
    return RecordEvent(stream, a->value.launchCompletionEvent.event, data, node);
  }
  return CUDA_SUCCESS;
}

CUresult CheckEvents(const Launch& launch) {
  for (const CUlaunchAttribute& a : launch.attributes) {
    const bool programmatic = a.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT;
    if (!programmatic && a.id != CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT) continue;
    const auto* event = Resolve<Event>(programmatic ? a.value.programmaticEvent.event
                                                    : a.value.launchCompletionEvent.event);
    if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (event->timing()) return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

// Nodes take over the priority of the stream that they are captured in.
CUlaunchAttribute PriorityOf(const Stream& stream) {
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
  attribute.value.priority = stream.priority;
  return attribute;
}

CUresult CaptureLaunch(Stream* stream, const Launch& launch) {
  auto params = std::make_unique<KernelParams>();
  params->function = launch.function;
  params->context = stream->context->handle();
  params->shape = launch.shape;
  params->attributes.assign(launch.attributes.begin(), launch.attributes.end());
  if (stream->priority != 0 && FindAttribute(launch, CU_LAUNCH_ATTRIBUTE_PRIORITY) == nullptr)
    params->attributes.push_back(PriorityOf(*stream));
  if (CUresult error =
          CopyArguments(*launch.function, launch.kernel_params, launch.extra, &params->arguments);
      error != CUDA_SUCCESS) {
    return error;
  }
  Captures& captures = Device::Get().captures;
  Node* node = nullptr;
  if (Serializes(launch) || !params->attributes.empty()) {
    const std::vector<Edge> edges = KernelDependencies(*stream, launch);
    node = captures.AddNode(stream, CU_GRAPH_NODE_TYPE_KERNEL, std::move(params), edges);
  } else {
    node = captures.AddNode(stream, CU_GRAPH_NODE_TYPE_KERNEL, std::move(params),
                            stream->dependencies.edges());
  }
  return RecordEvents(stream, launch, node);
}

CUresult Enqueue(const Launch& launch, CUstream handle) {
  if (launch.function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (launch.kernel_params != nullptr && launch.extra != nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult error = CheckShape(launch.shape); error != CUDA_SUCCESS) return error;
  const Lock lock = LockDevice();
  if (CUresult error = CheckFunction(*launch.function, launch.shape); error != CUDA_SUCCESS)
    return error;
  Stream* stream = nullptr;
  if (CUresult error = StreamForWork(handle, &stream); error != CUDA_SUCCESS) return error;
  if (stream->context != CurrentContext()) return CUDA_ERROR_INVALID_HANDLE;
  if (CUresult error =
          CheckAttributes(*launch.function, launch.shape, launch.attributes, *stream->context->gpu);
      error != CUDA_SUCCESS) {
    return error;
  }
  if (CUresult error = CheckEvents(launch); error != CUDA_SUCCESS) return error;
  if (stream->capture != nullptr) return CaptureLaunch(stream, launch);
  Advance(stream, KernelNs(*launch.function, launch.shape, *stream->context->gpu));
  PassMemory(stream, *launch.function, launch.kernel_params, launch.extra);
  return RecordEvents(stream, launch, nullptr);
}

}  // namespace

CUresult LaunchKernel(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz,
                      unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
                      CUstream stream, void** params, void** extra) {
  return Enqueue({f, Resolve<Function>(f), {{gx, gy, gz}, {bx, by, bz}, shared}, params, extra, {}},
                 stream);
}

CUresult LaunchCooperativeKernel(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz,
                                 unsigned int bx, unsigned int by, unsigned int bz,
                                 unsigned int shared, CUstream stream, void** params) {
  CUlaunchAttribute cooperative{};
  cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  cooperative.value.cooperative = 1;
  const LaunchShape shape{{gx, gy, gz}, {bx, by, bz}, shared};
  return Enqueue({f, Resolve<Function>(f), shape, params, nullptr, {&cooperative, 1}}, stream);
}

CUresult LaunchKernelEx(const CUlaunchConfig* c, CUfunction f, void** params, void** extra) {
  if (c == nullptr || (c->attrs == nullptr && c->numAttrs > 0)) return CUDA_ERROR_INVALID_VALUE;
  const LaunchShape shape{{c->gridDimX, c->gridDimY, c->gridDimZ},
                          {c->blockDimX, c->blockDimY, c->blockDimZ},
                          c->sharedMemBytes};
  return Enqueue({f, Resolve<Function>(f), shape, params, extra, {c->attrs, c->numAttrs}},
                 c->hStream);
}

CUresult LaunchHostFunc(CUstream stream, CUhostFn fn, void* user_data) {
  if (fn == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Lock lock = LockDevice();
  return Submit(stream, CU_GRAPH_NODE_TYPE_HOST, HostParams{fn, user_data});
}

CUresult StreamAddCallback(CUstream handle, CUstreamCallback callback, void* user_data,
                           unsigned int flags) {
  if (callback == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  Lock lock = LockDevice();
  Stream* stream = nullptr;
  if (CUresult error = StreamForWork(handle, &stream); error != CUDA_SUCCESS) return error;
  if (stream->capture != nullptr) {
    stream->capture->valid = false;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  Push(stream, HostWork("a stream callback", [=] { callback(handle, CUDA_SUCCESS, user_data); }));
  return CUDA_SUCCESS;
}

}  // namespace graphkit::soft::driver
