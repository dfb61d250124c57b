// Random calls on graphs and execs.
#include "random_player.h"

namespace random_calls {

void Player::AddNode(int graph) {
  const Nodes after = PickNodes(world_.graphs[graph], 3);
  const auto handles = Handles(graph, after);
  cudaGraphNode_t node = nullptr;
  cudaError_t got;
  const bool host = Chance(50);
  const int number = static_cast<int>(world_.graphs[graph].nodes.size());
  if (host) {
    tags_.emplace_back(new HostTag{&log_, graph, number});
    const cudaHostNodeParams params = {Log, tags_.back().get()};
    got = cudaGraphAddHostNode(&node, graphs_[graph], handles.data(), handles.size(), &params);
  } else {
    got = cudaGraphAddEmptyNode(&node, graphs_[graph], handles.data(), handles.size());
  }
  const Error want = world_.AddNode(graph, host ? Type::kHost : Type::kEmpty, after);
  if (Same("addNode(graph " + std::to_string(graph) + ")", want, got) && want == kOk)
    nodes_[graph].push_back(node);
}

void Player::AddMemory(int graph) {
  Graph& g = world_.graphs[graph];
  const Nodes after = PickNodes(g, 3);
  const auto handles = Handles(graph, after);
  cudaMemAllocNodeParams params = {};
  params.poolProps.allocType = cudaMemAllocationTypePinned;
  params.poolProps.location.type = cudaMemLocationTypeDevice;
  params.bytesize = static_cast<size_t>(1 + Pick(4)) << 10;
  cudaGraphNode_t node = nullptr;
  const int number = static_cast<int>(world_.allocations.size());
  const cudaError_t got =
      cudaGraphAddMemAllocNode(&node, graphs_[graph], handles.data(), handles.size(), &params);
  const Error want = world_.AddNode(graph, Type::kAlloc, after, number);
  if (!Same("addMemory(graph " + std::to_string(graph) + ")", want, got) || want != kOk) return;
  nodes_[graph].push_back(node);
  TakeMemory(params.dptr, params.bytesize, graph);
  if (!Chance(70)) return;
  const Nodes behind = {static_cast<int>(g.nodes.size()) - 1};
  const auto behind_handles = Handles(graph, behind);
  const Error want_free = world_.AddNode(graph, Type::kFree, behind, number);
  const cudaError_t got_free =
      cudaGraphAddMemFreeNode(&node, graphs_[graph], behind_handles.data(), 1, params.dptr);
  if (Same("addFree(graph " + std::to_string(graph) + ")", want_free, got_free) && want_free == kOk)
    nodes_[graph].push_back(node);
}

void Player::Edge(int graph, bool add) {
  const Graph& g = world_.graphs[graph];
  if (g.nodes.empty()) return;
  const int from = Pick(g.nodes.size());
  const int to = Pick(g.nodes.size());
  if (g.nodes[from].gone || g.nodes[to].gone) return;
  const cudaGraphNode_t a = nodes_[graph][from];
  const cudaGraphNode_t b = nodes_[graph][to];
  const cudaGraph_t handle = graphs_[graph];
  const std::string name = "(graph " + std::to_string(graph) + ", " + std::to_string(from) + ", " +
                           std::to_string(to) + ")";
  if (add) {
    const Error want = world_.AddEdge(graph, from, to);
    Same("addEdge" + name, want, cudaGraphAddDependencies(handle, &a, &b, nullptr, 1));
  } else {
    const Error want = world_.RemoveEdge(graph, from, to);
    Same("removeEdge" + name, want, cudaGraphRemoveDependencies(handle, &a, &b, nullptr, 1));
  }
}

void Player::Destroy(int graph) {
  const Graph& g = world_.graphs[graph];
  if (Chance(50) && !g.nodes.empty()) {
    const int node = Pick(g.nodes.size());
    if (g.nodes[node].gone) return;
    const Error want = world_.DestroyNode(graph, node);
    Same("destroyNode(graph " + std::to_string(graph) + ", " + std::to_string(node) + ")", want,
         cudaGraphDestroyNode(nodes_[graph][node]));
    return;
  }
  const Error want = world_.DestroyGraph(graph);
  Same("destroyGraph(" + std::to_string(graph) + ")", want, cudaGraphDestroy(graphs_[graph]));
}

void Player::Clone(int graph) {
  const Error want = world_.Clone(graph);
  cudaGraph_t clone = nullptr;
  const cudaError_t got = cudaGraphClone(&clone, graphs_[graph]);
  if (!Same("clone(" + std::to_string(graph) + ")", want, got) || want != kOk) return;
  const int number = static_cast<int>(world_.graphs.size()) - 1;
  OwnGraph(number, clone);
  for (cudaGraphNode_t node : nodes_[graph]) {
    const size_t at = nodes_[number].size();
    cudaGraphNode_t copy = nullptr;
    if (!world_.graphs[number].nodes[at].gone &&
        cudaGraphNodeFindInClone(&copy, node, clone) != cudaSuccess) {
      Differ("a node isn't found in the clone");
    }
    nodes_[number].push_back(copy);
  }
  CheckGraph(number);
}

void Player::Child(int graph) {
  const int child = PickGraph();
  const Nodes after = PickNodes(world_.graphs[graph], 2);
  const auto handles = Handles(graph, after);
  if (world_.graphs[child].nodes.size() > kMostNodes) return;
  cudaGraphNode_t node = nullptr;
  const Error want = world_.AddChild(graph, child, after);
  const cudaError_t got = cudaGraphAddChildGraphNode(&node, graphs_[graph], handles.data(),
                                                     handles.size(), graphs_[child]);
  if (Same("addChild(graph " + std::to_string(graph) + ")", want, got) && want == kOk)
    nodes_[graph].push_back(node);
}

void Player::Instantiate(int graph) {
  int number = kNone;
  const Error want = world_.Instantiate(graph, &number);
  cudaGraphExec_t exec = nullptr;
  const unsigned long long flags = 0;
  const cudaError_t got = cudaGraphInstantiate(&exec, graphs_[graph], flags);
  if (Same("instantiate(graph " + std::to_string(graph) + ")", want, got) && want == kOk)
    execs_.push_back(exec);
}

void Player::Launch(int number) {
  int stream = kNone;
  for (int i = 0; i < kStreams; ++i) {
    if (world_.streams[i].capture == kNone) stream = i;
  }
  const bool can_wait = world_.thread_mode == kRelaxed || !world_.AnyCapture();
  if (stream == kNone || !can_wait) return;
  log_.clear();
  const Error want = world_.Launch(number);
  const cudaError_t got = cudaGraphLaunch(execs_[number], streams_[stream]);
  cudaStreamSynchronize(streams_[stream]);
  if (Same("launch(exec " + std::to_string(number) + ")", want, got) && want == kOk)
    CheckOrder(world_.execs[number]);
}

void Player::GraphStep(int kind) {
  if (kind < 8) {
    cudaGraph_t handle = nullptr;
    world_.graphs.emplace_back();
    Same("create", kOk, cudaGraphCreate(&handle, 0));
    OwnGraph(static_cast<int>(world_.graphs.size()) - 1, handle);
    return;
  }
  const int exec = PickExec();
  if (kind < 16 && exec != kNone) return Launch(exec);
  if (kind < 22 && exec != kNone) {
    Exec& e = world_.execs[exec];
    e.gone = true;
    --world_.graphs[e.graph].execs;
    Same("destroyExec(" + std::to_string(exec) + ")", kOk, cudaGraphExecDestroy(execs_[exec]));
    return;
  }
  const int graph = PickGraph();
  if (graph == kNone) return;
  if (world_.graphs[graph].nodes.size() > kMostNodes) return Destroy(graph);
  if (kind < 45) return AddNode(graph);
  if (kind < 52) return AddMemory(graph);
  if (kind < 66) return Edge(graph, true);
  if (kind < 74) return Edge(graph, false);
  if (kind < 82) return Destroy(graph);
  if (kind < 87) return Clone(graph);
  if (kind < 91) return Child(graph);
  Instantiate(graph);
}

}  // namespace random_calls
