// Random calls on streams: captures, and what they capture.
#include <algorithm>
#include <mutex>
#include <thread>

#include "actor.h"

namespace random_graphs {
Actor::Info Actor::InfoOf(cudaStream_t stream) {
  Info info;
  const cudaGraphNode_t* nodes = nullptr;
  const cudaGraphEdgeData* data = nullptr;
  size_t count = 0;
  cudaStreamGetCaptureInfo(stream, &info.status, &info.id, &info.graph, &nodes, &data, &count);
  if (info.status != cudaStreamCaptureStatusActive) info.graph = nullptr;
  if (info.graph != nullptr) info.nodes.assign(nodes, nodes + count);
  return info;
}

void Actor::Begin(cudaStream_t stream) {
  const Graph* into = random_.Chance(35) ? PickGraph(Use::kCaptureInto) : nullptr;
  if (into != nullptr) return BeginInto(stream, *into);
  const int mode = random_.Pick(3);
  std::lock_guard lock(disturbing_);
  if (cudaStreamBeginCapture(stream, static_cast<cudaStreamCaptureMode>(mode)) != cudaSuccess) {
    return;
  }
  const cudaGraph_t graph = InfoOf(stream).graph;
  Made(graph, "capture");
  captures_[stream] = {Known(graph).label, mode, graph, false};
}

void Actor::BeginInto(cudaStream_t stream, const Graph& graph) {
  const int mode = random_.Pick(3);
  const Dependencies after = PickDependencies(graph.handle, 2);
  std::lock_guard lock(disturbing_);
  if (cudaStreamBeginCaptureToGraph(stream, graph.handle, after.nodes.data(), after.data.data(),
                                    after.nodes.size(),
                                    static_cast<cudaStreamCaptureMode>(mode)) == cudaSuccess) {
    captures_[stream] = {graph.label, mode, graph.handle, graph.family != graph.handle};
  }
}

// Joins what was forked from the stream.
void Actor::JoinAll(cudaStream_t stream) {
  const Info origin = InfoOf(stream);
  for (cudaStream_t other : streams_) {
    if (other == stream || origin.graph == nullptr) continue;
    const Info info = InfoOf(other);
    if (info.graph != nullptr && info.id == origin.id) Fork(other, stream);
  }
}

// By an event that is kept, or by one that isn't. What breaks captures is tried now and then.
void Actor::Fork(cudaStream_t from, cudaStream_t to) {
  const Info begin = InfoOf(from), end = InfoOf(to);
  const bool breaks = end.status != cudaStreamCaptureStatusNone && begin.id != end.id;
  if (breaks && random_.Chance(80)) return;
  const bool passing = random_.Chance(30);
  cudaEvent_t event = PickEvent();
  if (passing) cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  if (cudaEventRecord(event, from) == cudaSuccess) cudaStreamWaitEvent(to, event, 0);
  if (passing) cudaEventDestroy(event);
}

void Actor::End(cudaStream_t stream, bool elsewhere) {
  if (elsewhere_ && stream == cudaStreamPerThread) return;  // another one
  const auto known = captures_.find(stream);
  std::vector<cudaGraphNode_t> nodes;
  if (known != captures_.end()) nodes = NodesOf(known->second.graph);
  cudaGraph_t graph = nullptr;
  cudaError_t error = cudaSuccess;
  auto end = [&] { error = cudaStreamEndCapture(stream, &graph); };
  if (elsewhere) {
    std::thread(end).join();
  } else {
    end();
  }
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cudaStreamIsCapturing(stream, &status);
  if (known == captures_.end() || status != cudaStreamCaptureStatusNone) return;
  const Capture capture = known->second;
  captures_.erase(known);
  allocations_.clear();
  Say(Text(R"({"captured":"%s","mode":%d,"error":%d})", capture.label.c_str(), capture.mode,
           error));
  if (error != cudaSuccess) Failed(capture, nodes);
}

// A capture that fails takes the graph along that it made or was to fill. Where that is a body, its
// family is left alone from then on: NVIDIA's driver crashes at the end of the graph around it.
// That may itself still be captured.
void Actor::Failed(const Capture& capture, const std::vector<cudaGraphNode_t>& nodes) {
  const Graph* known = Find(capture.graph);
  if (known == nullptr && !capture.embedded) Say(R"({"gone":")" + capture.label + "\"}");
  if (known == nullptr) return;
  const cudaGraph_t family = known->family;
  if (family == capture.graph) return Gone(family);
  const std::vector<cudaGraphNode_t> left = NodesOf(capture.graph);
  for (cudaGraphNode_t node : nodes) {
    if (std::find(left.begin(), left.end(), node) == left.end()) SayGone(node, capture.label);
  }
  Gone(family, false);
}

// A further attribute for a kernel's launch.
cudaLaunchAttribute Actor::PickAttribute() {
  cudaLaunchAttribute attribute = {};
  const int kind = random_.Pick(8);
  if (kind < 2) {
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
  } else if (kind == 2) {
    attribute.id = cudaLaunchAttributeProgrammaticEvent;
    attribute.val.programmaticEvent = {PickEvent(), 0, random_.Pick(2)};
  } else if (kind == 3) {
    attribute.id = cudaLaunchAttributeLaunchCompletionEvent;
    attribute.val.launchCompletionEvent = {PickEvent(), 0};
  } else {
    attribute.id = cudaLaunchAttributePriority;
  }
  return attribute;
}

// Does work on the stream that a node with these parameters would do. It is told where it runs at
// once: there the API says nothing afterwards.
void Actor::Work(cudaStream_t stream, cudaGraphNodeType type) {
  const bool eager = InfoOf(stream).status == cudaStreamCaptureStatusNone;
  cudaGraphNodeParams what = Params(type);
  cudaError_t error = cudaSuccess;
  if (type == cudaGraphNodeTypeKernel) {
    cudaLaunchAttribute attribute = PickAttribute();
    const cudaLaunchConfig_t config = {what.kernel.gridDim,
                                       what.kernel.blockDim,
                                       what.kernel.sharedMemBytes,
                                       stream,
                                       &attribute,
                                       1};
    error = cudaLaunchKernelExC(&config, what.kernel.func, what.kernel.kernelParams);
  } else if (type == cudaGraphNodeTypeMemcpy) {
    error = Copy(stream, what.memcpy.copyParams);
  } else if (type == cudaGraphNodeTypeMemset) {
    error = Fill(stream, what.memset);
  } else {
    error = cudaLaunchHostFunc(stream, what.host.fn, nullptr);
  }
  if (!eager || error != cudaSuccess) return;
  constexpr const char* kKinds[] = {"kernel", "memcpy", "memset", "host"};
  const std::string described = Describe(what);
  Say(Text(R"({"work":"%s"%s)", kKinds[type], described.empty() ? "" : ",") + described + "}");
}

// Copies; what is captured may also use memory that the graph allocates.
cudaError_t Actor::Copy(cudaStream_t stream, cudaMemcpy3DParms& copy) {
  if (!allocations_[stream].empty() && random_.Chance(50)) {
    copy.dstPtr = make_cudaPitchedPtr(allocations_[stream].back(), 256, 256, 4);
  }
  const size_t width = copy.extent.width, height = copy.extent.height;
  switch (random_.Pick(3)) {
    case 0:
      copy.extent.height = 1;
      return cudaMemcpyAsync(copy.dstPtr.ptr, copy.srcPtr.ptr, width, cudaMemcpyDefault, stream);
    case 1:
      return cudaMemcpy2DAsync(copy.dstPtr.ptr, copy.dstPtr.pitch, copy.srcPtr.ptr,
                               copy.srcPtr.pitch, width, height, copy.kind, stream);
    default:
      return cudaMemcpy3DAsync(&copy, stream);
  }
}

cudaError_t Actor::Fill(cudaStream_t stream, cudaMemsetParamsV2& fill) {
  fill.elementSize = 1;
  if (random_.Chance(50)) fill.height = 1;
  if (fill.height == 1) return cudaMemsetAsync(fill.dst, 1, fill.width, stream);
  return cudaMemset2DAsync(fill.dst, fill.pitch, 1, fill.width, fill.height, stream);
}

void Actor::Allocate(cudaStream_t stream) {
  if (InfoOf(stream).graph == nullptr) return;
  void* made = nullptr;
  const size_t bytes = 1024 * (1 + random_.Pick(8));
  const cudaError_t error = random_.Chance(70)
                                ? cudaMallocAsync(&made, bytes, stream)
                                : cudaMallocFromPoolAsync(&made, bytes, buffers_.pool, stream);
  if (error == cudaSuccess) allocations_[stream].push_back(made);
}

void Actor::Free(cudaStream_t stream) {
  std::vector<void*>& live = allocations_[stream];
  if (live.empty()) return;
  cudaFreeAsync(live.back(), stream);
  live.pop_back();
}

// Events as nodes.
void Actor::External(cudaStream_t stream) {
  if (InfoOf(stream).graph == nullptr) return;
  const cudaEvent_t event = PickEvent();
  if (random_.Chance(50)) {
    cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal);
  } else {
    cudaStreamWaitEvent(stream, event, cudaEventWaitExternal);
  }
}

void Actor::MoveFrontier(cudaStream_t stream) {
  const Info info = InfoOf(stream);
  if (info.graph == nullptr) return;
  Dependencies to = PickDependencies(info.graph, 2);
  const bool set = random_.Chance(50);
  if (set) allocations_[stream].clear();  // later work may come before them
  cudaStreamUpdateCaptureDependencies(
      stream, to.nodes.data(), to.data.data(), to.nodes.size(),
      set ? cudaStreamSetCaptureDependencies : cudaStreamAddCaptureDependencies);
}

// Adds a node to the graph at hand by an explicit call, as PyTorch does conditional nodes.
void Actor::AddIntoCapture(cudaStream_t stream) {
  const Info info = InfoOf(stream);
  if (Find(info.graph) == nullptr || NodesOf(info.graph).size() > 40) return;
  const Dependencies after = {info.nodes, std::vector<cudaGraphEdgeData>(info.nodes.size())};
  const bool conditional = random_.Chance(40);
  cudaGraphNode_t node =
      conditional ? AddConditional(info.graph, after) : AddAny(info.graph, after);
  if (node == nullptr) return;
  cudaStreamUpdateCaptureDependencies(stream, &node, nullptr, 1, cudaStreamSetCaptureDependencies);
  const cudaStream_t other = PickStream();
  if (!conditional || InfoOf(other).status != cudaStreamCaptureStatusNone) return;
  BeginInto(other, Known(conditionals_[node].bodies[0]));
  Work(other, cudaGraphNodeTypeKernel);
  Work(other, cudaGraphNodeTypeMemset);
  End(other, false);
}

void Actor::LaunchGraph(cudaStream_t stream) {
  if (execs_.empty()) return;
  const Exec& exec = execs_[static_cast<size_t>(random_.Pick(execs_.size()))];
  std::lock_guard lock(disturbing_);
  const bool capturing = InfoOf(stream).status != cudaStreamCaptureStatusNone;
  if (cudaGraphLaunch(exec.handle, stream) != cudaSuccess) return;
  if (!capturing) return Say(R"({"launched":")" + exec.label + "\"}");
  const Info info = InfoOf(stream);
  if (info.nodes.size() != 1 || Find(info.graph) == nullptr) return;
  const size_t known = graphs_.size();
  if (cudaGraph_t child = ChildOf(info.nodes[0])) {
    MadeInside(child, "child", Known(info.graph).family, exec.parameters_of);
  }
  for (size_t i = known; i < graphs_.size(); ++i) {
    Say(R"({"embedded":")" + graphs_[i].label + R"(","exec":")" + exec.label + "\"}");
  }
}

// Calls that may break a capture, of this thread's or of another's.
void Actor::Disturb() {
  std::lock_guard lock(disturbing_);
  void* made = nullptr;
  cudaStreamCaptureMode mode = static_cast<cudaStreamCaptureMode>(random_.Pick(3));
  switch (random_.Pick(6)) {
    case 0:
      if (cudaMalloc(&made, 4096) == cudaSuccess) cudaFree(made);
      break;
    case 1:
      Work(cudaStreamLegacy, cudaGraphNodeTypeMemset);
      break;
    case 2:
      cudaEventQuery(PickEvent());
      break;
    case 3:
    case 4:
      cudaThreadExchangeStreamCaptureMode(&mode);
      break;
    default:
      cudaStreamSynchronize(PickStream());
      break;
  }
}

// Another stream, that may be given the handle of the one before.
void Actor::Recreate() {
  cudaStream_t& stream = streams_[static_cast<size_t>(random_.Pick(streams_.size() - 1))];
  if (InfoOf(stream).status != cudaStreamCaptureStatusNone) return;
  cudaStreamDestroy(stream);
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
}

void Actor::StreamStep() {
  const cudaStream_t stream = PickStream();
  const int kind = random_.Pick(100);
  if (captures_.empty()) return Begin(stream);
  if (kind < 28) return Work(stream, cudaGraphNodeTypeKernel);
  if (kind < 36) return Work(stream, cudaGraphNodeTypeMemcpy);
  if (kind < 43) return Work(stream, cudaGraphNodeTypeMemset);
  if (kind < 48) return Work(stream, cudaGraphNodeTypeHost);
  if (kind < 62) return Fork(random_.Chance(90) ? captures_.begin()->first : stream, PickStream());
  if (kind < 66) return External(stream);
  if (kind < 71) return Allocate(stream);
  if (kind < 75) return Free(stream);
  if (kind < 79) return MoveFrontier(stream);
  if (kind < 83) return AddIntoCapture(stream);
  if (kind < 88) return LaunchGraph(stream);
  if (kind < 91) return Begin(stream);
  if (kind < 92) return random_.Chance(30) ? Disturb() : Recreate();
  const cudaStream_t origin = random_.Chance(90) ? captures_.begin()->first : stream;
  if (random_.Chance(90)) JoinAll(origin);
  End(origin, origin != cudaStreamPerThread && random_.Chance(5));
}

}  // namespace random_graphs
