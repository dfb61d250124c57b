// Random calls on instantiated graphs.
#include "actor.h"

namespace random_graphs {

void Actor::Instantiate() {
  const Graph* graph = PickGraph(Use::kWhole);
  if (graph == nullptr || execs_.size() > 5) return;
  if (!captures_.empty() && random_.Chance(70)) return;  // most captures don't stand it
  std::lock_guard lock(disturbing_);
  cudaGraphExec_t exec = nullptr;
  cudaGraphInstantiateParams params = {};
  const unsigned long long flags =
      random_.Chance(30) ? cudaGraphInstantiateFlagAutoFreeOnLaunch : 0;
  params.flags = flags | (random_.Chance(30) ? cudaGraphInstantiateFlagUseNodePriority : 0);
  const bool plain = random_.Chance(50);
  const cudaError_t error = plain ? cudaGraphInstantiate(&exec, graph->handle, flags)
                                  : cudaGraphInstantiateWithParams(&exec, graph->handle, &params);
  if (error != cudaSuccess) return;
  execs_.push_back({exec, Label(), graph->handle, graph->label});
  Say(Text(R"({"exec":"%s","handle":"%p","of":"%s","flags":%llu})", execs_.back().label.c_str(),
           static_cast<void*>(exec), graph->label.c_str(), plain ? flags : params.flags));
}

// Other parameters for a node of the exec, or the node off or on.
void Actor::SetExec(const Exec& exec) {
  if (exec.graph == nullptr) return;
  std::vector<Graph> family;
  for (const Graph& graph : graphs_) {
    if (graph.family == exec.graph) family.push_back(graph);
  }
  const Graph& in = family[static_cast<size_t>(random_.Pick(family.size()))];
  const std::vector<cudaGraphNode_t> nodes = NodesOf(in.handle);
  if (nodes.empty()) return;
  const cudaGraphNode_t node = nodes[static_cast<size_t>(random_.Pick(nodes.size()))];
  const cudaGraphNodeType type = TypeOf(node);
  if (random_.Chance(25)) {
    cudaGraphNodeSetEnabled(exec.handle, node, random_.Pick(2) != 0 ? 1 : 0);
    return;
  }
  cudaGraphNodeParams params = Params(type);
  if (type == cudaGraphNodeTypeGraph) {
    const Graph* other = PickGraph(Use::kWhole);
    params.graph.graph = other != nullptr && random_.Chance(50) ? other->handle : ChildOf(node);
  }
  const OldParams old(params);
  cudaError_t error;
  const bool general = random_.Chance(50);
  if (!general && type == cudaGraphNodeTypeKernel) {
    error = cudaGraphExecKernelNodeSetParams(exec.handle, node, &old.kernel);
  } else if (!general && type == cudaGraphNodeTypeMemset) {
    error = cudaGraphExecMemsetNodeSetParams(exec.handle, node, &old.memset);
  } else if (!general && type == cudaGraphNodeTypeMemcpy) {
    error = cudaGraphExecMemcpyNodeSetParams(exec.handle, node, &params.memcpy.copyParams);
  } else if (type == cudaGraphNodeTypeGraph) {
    error = cudaGraphExecChildGraphNodeSetParams(exec.handle, node, params.graph.graph);
  } else {
    error = cudaGraphExecNodeSetParams(exec.handle, node, &params);
  }
  if (error != cudaSuccess) return;
  Say(Text(R"({"set":"%s","node":"%p","in":"%s","params":{)", exec.label.c_str(),
           static_cast<void*>(node), in.label.c_str()) +
      Describe(params) + "}}");
}

void Actor::Update(Exec& exec) {
  const Graph* graph = exec.graph != nullptr && random_.Chance(50) && !IsBusy(exec.graph)
                           ? &Known(exec.graph)
                           : PickGraph(Use::kWhole);
  if (graph == nullptr) return;
  cudaGraphExecUpdateResultInfo info = {};
  if (cudaGraphExecUpdate(exec.handle, graph->handle, &info) == cudaSuccess) {
    exec.parameters_of = graph->label;
  }
  Say(Text(R"({"updated":"%s","by":"%s","result":%d})", exec.label.c_str(), graph->label.c_str(),
           info.result));
}

// Prints the nodes that the exec runs, as long as its graph is there to ask about them.
void Actor::SayEnabled(const Exec& exec) {
  for (const Graph& in : graphs_) {
    if (in.family != exec.graph) continue;
    std::string nodes;
    for (cudaGraphNode_t node : NodesOf(in.handle)) {
      unsigned enabled = 1;
      if (cudaGraphNodeGetEnabled(exec.handle, node, &enabled) != cudaSuccess) continue;
      nodes += Text("%s[\"%p\",%u]", nodes.empty() ? "" : ",", static_cast<void*>(node), enabled);
    }
    Say(R"({"enabled":")" + exec.label + R"(","in":")" + in.label + R"(","nodes":[)" + nodes +
        "]}");
  }
}

void Actor::DestroyExec(size_t at) {
  SayEnabled(execs_[at]);
  cudaGraphExecDestroy(execs_[at].handle);
  execs_.erase(execs_.begin() + static_cast<ptrdiff_t>(at));
}

void Actor::ExecStep() {
  const int kind = random_.Pick(100);
  if (kind < 30 || execs_.empty()) return Instantiate();
  const auto at = static_cast<size_t>(random_.Pick(execs_.size()));
  if (kind < 75) return SetExec(execs_[at]);
  if (kind < 83) return Update(execs_[at]);
  if (kind < 87) return DestroyExec(at);
  if (kind < 90) return static_cast<void>(cudaGraphUpload(execs_[at].handle, PickStream()));
  LaunchGraph(PickStream());
}

}  // namespace random_graphs
