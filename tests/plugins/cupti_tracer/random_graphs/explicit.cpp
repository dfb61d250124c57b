// Random calls that build graphs node by node, and change them.
#include <algorithm>

#include "actor.h"

namespace random_graphs {

constexpr size_t kMostNodes = 40;  // of a graph and the child graphs in it

size_t SizeOf(cudaGraph_t graph) {
  size_t size = 0;
  for (cudaGraphNode_t node : NodesOf(graph)) {
    cudaGraph_t child = ChildOf(node);
    size += 1 + (child != nullptr ? SizeOf(child) : 0);
  }
  return size;
}

cudaGraphNodeType TypeOf(cudaGraphNode_t node) {
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  cudaGraphNodeGetType(node, &type);
  return type;
}

const Actor::Graph* Actor::Find(cudaGraph_t graph) const {
  const auto known = std::find_if(graphs_.begin(), graphs_.end(),
                                  [&](const Graph& other) { return other.handle == graph; });
  return known == graphs_.end() ? nullptr : &*known;
}

// True if something is captured into the graph, or into one that it is inside of or that is inside.
bool Actor::IsBusy(cudaGraph_t graph) const {
  return std::any_of(captures_.begin(), captures_.end(), [&](const auto& capture) {
    const Graph* captured = Find(capture.second.graph);
    return captured != nullptr && captured->family == Known(graph).family;
  });
}

// A graph that nothing is captured into, and that may be used so. Null: another one was drawn.
const Actor::Graph* Actor::PickGraph(Use use) {
  if (graphs_.empty()) return nullptr;
  const Graph& graph = graphs_[static_cast<size_t>(random_.Pick(graphs_.size()))];
  const bool fits = use == Use::kChange || graph.family == graph.handle ||
                    (use == Use::kCaptureInto && graph.origin == "body");
  return fits && !IsBusy(graph.handle) ? &graph : nullptr;
}

Dependencies Actor::PickDependencies(cudaGraph_t graph, int most) {
  Dependencies picked;
  const std::vector<cudaGraphNode_t> nodes = NodesOf(graph);
  for (int i = random_.Pick(static_cast<size_t>(most) + 1); i > 0 && !nodes.empty(); --i) {
    const cudaGraphNode_t node = nodes[static_cast<size_t>(random_.Pick(nodes.size()))];
    if (std::count(picked.nodes.begin(), picked.nodes.end(), node) != 0) continue;
    picked.nodes.push_back(node);
    picked.data.push_back(TypeOf(node) == cudaGraphNodeTypeKernel ? PickEdge()
                                                                  : cudaGraphEdgeData{});
  }
  return picked;
}

// The ways to leave a kernel: mostly its end.
cudaGraphEdgeData Actor::PickEdge() {
  cudaGraphEdgeData data = {};
  const int kind = random_.Pick(10);
  if (kind < 3) data.from_port = kind == 0 ? 1 : 2;
  if (kind < 2) data.type = cudaGraphDependencyTypeProgrammatic;
  return data;
}

cudaGraphNodeParams Actor::Params(cudaGraphNodeType type) {
  cudaGraphNodeParams params = {};
  params.type = type;
  const auto height = static_cast<size_t>(1 + random_.Pick(3));
  if (type == cudaGraphNodeTypeKernel) {
    const int kernel = random_.Pick(4);
    FillArguments(arguments_, kernel);
    params.kernel.func = const_cast<void*>(kKernels[kernel].function);
    params.kernel.gridDim = dim3(1 + random_.Pick(4), 1 + random_.Pick(2));
    params.kernel.blockDim = dim3(32, 1 + random_.Pick(2));
    params.kernel.sharedMemBytes = 128 * random_.Pick(3);
    params.kernel.kernelParams = arguments_.values;
  } else if (type == cudaGraphNodeTypeMemcpy) {
    const bool up = random_.Chance(50);
    cudaMemcpy3DParms& copy = params.memcpy.copyParams;
    copy.srcPtr = make_cudaPitchedPtr(up ? PinnedAt(2048) : DeviceAt(2048), 256, 256, 4);
    copy.dstPtr = make_cudaPitchedPtr(DeviceAt(2048), 512, 512, 4);
    copy.extent = make_cudaExtent(static_cast<size_t>(16 + random_.Pick(64)), height, 1);
    copy.kind = up ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToDevice;
  } else if (type == cudaGraphNodeTypeMemset) {
    params.memset.dst = DeviceAt(2048);
    params.memset.elementSize = 1u << random_.Pick(3);
    params.memset.width = static_cast<size_t>(1 + random_.Pick(60));
    params.memset.height = height;
    params.memset.pitch = 512;
  } else if (type == cudaGraphNodeTypeHost) {
    params.host.fn = [](void*) {};
  } else if (type == cudaGraphNodeTypeEventRecord) {
    params.eventRecord.event = PickEvent();
  } else if (type == cudaGraphNodeTypeWaitEvent) {
    params.eventWait.event = PickEvent();
  }
  return params;
}

// By the function of CUDA 10 and 11 for nodes of this type.
cudaError_t AddOldWay(cudaGraphNode_t* node, cudaGraph_t graph, const Dependencies& after,
                      const cudaGraphNodeParams& params) {
  const cudaGraphNode_t* nodes = after.nodes.data();
  const size_t count = after.nodes.size();
  const OldParams old(params);
  switch (params.type) {
    case cudaGraphNodeTypeKernel:
      return cudaGraphAddKernelNode(node, graph, nodes, count, &old.kernel);
    case cudaGraphNodeTypeMemcpy: {
      const cudaMemcpy3DParms& copy = params.memcpy.copyParams;
      if (copy.extent.height > 1) return cudaGraphAddMemcpyNode(node, graph, nodes, count, &copy);
      return cudaGraphAddMemcpyNode1D(node, graph, nodes, count, copy.dstPtr.ptr, copy.srcPtr.ptr,
                                      copy.extent.width, copy.kind);
    }
    case cudaGraphNodeTypeMemset:
      return cudaGraphAddMemsetNode(node, graph, nodes, count, &old.memset);
    case cudaGraphNodeTypeHost:
      return cudaGraphAddHostNode(node, graph, nodes, count, &old.host);
    case cudaGraphNodeTypeGraph:
      return cudaGraphAddChildGraphNode(node, graph, nodes, count, params.graph.graph);
    case cudaGraphNodeTypeEventRecord:
      return cudaGraphAddEventRecordNode(node, graph, nodes, count, params.eventRecord.event);
    case cudaGraphNodeTypeWaitEvent:
      return cudaGraphAddEventWaitNode(node, graph, nodes, count, params.eventWait.event);
    default:
      return cudaGraphAddEmptyNode(node, graph, nodes, count);
  }
}

// The graph is inside another one now.
void Actor::Moved(cudaGraph_t graph, cudaGraph_t into) {
  Say(R"({"moved":")" + Known(graph).label + "\"}");
  for (Graph& known : graphs_) {
    if (known.family == graph) known.family = into;
  }
  for (Exec& exec : execs_) {
    if (exec.graph == graph) exec.graph = nullptr;
  }
}

// Null: it didn't succeed.
cudaGraphNode_t Actor::AddAny(cudaGraph_t graph, const Dependencies& after) {
  constexpr cudaGraphNodeType kTypes[] = {cudaGraphNodeTypeKernel,      cudaGraphNodeTypeKernel,
                                          cudaGraphNodeTypeMemcpy,      cudaGraphNodeTypeMemset,
                                          cudaGraphNodeTypeHost,        cudaGraphNodeTypeEmpty,
                                          cudaGraphNodeTypeGraph,       cudaGraphNodeTypeGraph,
                                          cudaGraphNodeTypeEventRecord, cudaGraphNodeTypeWaitEvent};
  cudaGraphNodeParams params = Params(kTypes[random_.Pick(std::size(kTypes))]);
  std::string original;
  if (params.type == cudaGraphNodeTypeGraph) {
    const Graph* child = PickGraph(Use::kWhole);
    // NVIDIA's driver crashes where a graph is put into itself.
    if (child == nullptr || child->handle == Known(graph).family) return nullptr;
    if (SizeOf(graph) + SizeOf(child->handle) > kMostNodes) return nullptr;
    params.graph.graph = child->handle;
    original = child->label;
#if CUDART_VERSION >= 12090
    if (random_.Chance(20)) params.graph.ownership = cudaGraphChildGraphOwnershipMove;
#endif
  }
  cudaGraphNode_t node = nullptr;
  const cudaError_t error = random_.Chance(50)
                                ? AddOldWay(&node, graph, after, params)
                                : cudaGraphAddNode(&node, graph, after.nodes.data(),
                                                   after.data.data(), after.nodes.size(), &params);
  if (error != cudaSuccess) return nullptr;
  const cudaGraph_t child = ChildOf(node);
  if (child != nullptr && child == params.graph.graph) {
    Moved(child, Known(graph).family);
  } else if (child != nullptr) {
    MadeInside(child, "child", Known(graph).family, original);
  }
  return node;
}

// A condition that is met once or never: on a GPU it ends.
Conditional Actor::FillConditional(cudaConditionalNodeParams& params) {
  params.size = 1;
  const int kind = random_.Pick(6);
#if CUDART_VERSION >= 12080
  if (kind == 0) {
    params.type = cudaGraphCondTypeSwitch;
    params.size = 3;
    return {"switch", {}};
  }
  if (kind == 1) params.size = 2;
#endif
  params.type = kind < 4 ? cudaGraphCondTypeIf : cudaGraphCondTypeWhile;
  return {kind < 4 ? "if" : "while", {}};
}

cudaGraphNode_t Actor::AddConditional(cudaGraph_t graph, const Dependencies& after) {
  cudaGraphNodeParams params = {};
  params.type = cudaGraphNodeTypeConditional;
  Conditional made = FillConditional(params.conditional);
  cudaGraphNode_t node = nullptr;
  if (cudaGraphConditionalHandleCreate(&params.conditional.handle, graph,
                                       params.conditional.type != cudaGraphCondTypeWhile,
                                       cudaGraphCondAssignDefault) != cudaSuccess ||
      cudaGraphAddNode(&node, graph, after.nodes.data(), after.data.data(), after.nodes.size(),
                       &params) != cudaSuccess) {
    return nullptr;
  }
  for (unsigned i = 0; i < params.conditional.size; ++i) {
    made.bodies.push_back(params.conditional.phGraph_out[i]);
    MadeInside(made.bodies.back(), "body", Known(graph).family);
  }
  conditionals_[node] = made;
  return node;
}

// Memory that the graph allocates, uses and, mostly, frees.
void Actor::AddMemory(cudaGraph_t graph) {
  const Dependencies after = PickDependencies(graph, 2);
  cudaMemAllocNodeParams params = {};
  params.poolProps.allocType = cudaMemAllocationTypePinned;
  params.poolProps.location.type = cudaMemLocationTypeDevice;
  params.bytesize = static_cast<size_t>(1 + random_.Pick(4)) * 1024;
  cudaGraphNode_t node = nullptr;
  if (cudaGraphAddMemAllocNode(&node, graph, after.nodes.data(), after.nodes.size(), &params) !=
      cudaSuccess) {
    return;
  }
  cudaMemsetParams fill = {};
  fill.dst = static_cast<char*>(params.dptr) + 16;
  fill.elementSize = 4;
  fill.width = static_cast<size_t>(1 + random_.Pick(200));
  fill.height = 1;
  cudaGraphNode_t filled = nullptr, freed = nullptr;
  if (cudaGraphAddMemsetNode(&filled, graph, &node, 1, &fill) == cudaSuccess &&
      random_.Chance(80)) {
    cudaGraphAddMemFreeNode(&freed, graph, &filled, 1, params.dptr);
  }
}

void Actor::ChangeEdge(cudaGraph_t graph) {
  const std::vector<cudaGraphNode_t> nodes = NodesOf(graph);
  if (nodes.empty()) return;
  const cudaGraphNode_t from = nodes[static_cast<size_t>(random_.Pick(nodes.size()))];
  const cudaGraphNode_t to = nodes[static_cast<size_t>(random_.Pick(nodes.size()))];
  cudaGraphEdgeData data = {};
  if (random_.Chance(50)) data = PickEdge();
  if (random_.Chance(70)) {
    cudaGraphAddDependencies(graph, &from, &to, &data, 1);
    return;
  }
  size_t count = 0;
  cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count);
  std::vector<cudaGraphNode_t> begins(count), ends(count);
  std::vector<cudaGraphEdgeData> all(count);
  if (count == 0) return;
  cudaGraphGetEdges(graph, begins.data(), ends.data(), all.data(), &count);
  const auto edge = static_cast<size_t>(random_.Pick(count));
  cudaGraphRemoveDependencies(graph, &begins[edge], &ends[edge], &all[edge], 1);
}

void Actor::SetParams(cudaGraph_t graph) {
  const std::vector<cudaGraphNode_t> nodes = NodesOf(graph);
  if (nodes.empty()) return;
  const cudaGraphNode_t node = nodes[static_cast<size_t>(random_.Pick(nodes.size()))];
  const cudaGraphNodeType type = TypeOf(node);
  if (type == cudaGraphNodeTypeGraph || type == cudaGraphNodeTypeConditional) return;
  cudaGraphNodeParams params = Params(type);
  const OldParams old(params);
  const bool general = random_.Chance(50);
  if (!general && type == cudaGraphNodeTypeKernel) {
    cudaGraphKernelNodeSetParams(node, &old.kernel);
  } else if (!general && type == cudaGraphNodeTypeMemcpy) {
    if (random_.Chance(50)) {
      cudaGraphMemcpyNodeSetParams(node, &params.memcpy.copyParams);
    } else {
      cudaGraphMemcpyNodeSetParams1D(node, DeviceAt(128), PinnedAt(128), 128,
                                     cudaMemcpyHostToDevice);
    }
  } else if (!general && type == cudaGraphNodeTypeMemset) {
    cudaGraphMemsetNodeSetParams(node, &old.memset);
  } else if (!general && type == cudaGraphNodeTypeEventRecord) {
    cudaGraphEventRecordNodeSetEvent(node, params.eventRecord.event);
  } else {
    cudaGraphNodeSetParams(node, &params);
  }
}

void Actor::DestroyNode(cudaGraph_t graph) {
  const std::vector<cudaGraphNode_t> nodes = NodesOf(graph);
  if (nodes.empty()) return;
  const cudaGraphNode_t node = nodes[static_cast<size_t>(random_.Pick(nodes.size()))];
  if (TypeOf(node) == cudaGraphNodeTypeConditional) return;
  if (cudaGraphDestroyNode(node) != cudaSuccess) return;
  SayGone(node, Known(graph).label);
  Forget(Known(graph).family);
}

void Actor::Clone(const Graph& graph) {
  const std::string original = graph.label;
  cudaGraph_t clone = nullptr;
  if (cudaGraphClone(&clone, graph.handle) != cudaSuccess) return;
  Made(clone, "clone", original);
}

void Actor::DestroyGraph(cudaGraph_t graph) {
  for (const Exec& exec : execs_) {
    if (exec.graph == graph) SayEnabled(exec);
  }
  for (const Graph& known : graphs_) {
    if (known.family == graph) Dump(known.handle, known.label, conditionals_);
  }
  if (cudaGraphDestroy(graph) == cudaSuccess) Gone(graph);
}

void Actor::GraphStep() {
  const int kind = random_.Pick(100);
  if (kind < 8 && graphs_.size() < 16) {
    cudaGraph_t graph = nullptr;
    if (cudaGraphCreate(&graph, 0) != cudaSuccess) return;
    return Made(graph, "explicit");
  }
  const Graph* graph = PickGraph(Use::kChange);
  if (graph == nullptr) return;
  const cudaGraph_t handle = graph->handle;
  const bool own = graph->family == handle;
  if (own && (kind < 11 || graphs_.size() > 24)) return DestroyGraph(handle);
  if (own && kind < 22) return Clone(*graph);
  if (kind < 34) return ChangeEdge(handle);
  if (kind < 46) return SetParams(handle);
  if (kind < 50) return DestroyNode(handle);
  if (SizeOf(handle) > kMostNodes) return;
  const Dependencies after = PickDependencies(handle, 3);
  if (kind < 56) return AddMemory(handle);
  if (kind < 62) return static_cast<void>(AddConditional(handle, after));
  AddAny(handle, after);
}

}  // namespace random_graphs
