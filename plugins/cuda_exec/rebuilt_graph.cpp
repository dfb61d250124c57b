#include "plugins/cuda_exec/rebuilt_graph.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <tuple>

namespace graphkit::exec {
namespace {

constexpr unsigned int kThreads = 256;
constexpr uint64_t kMostBlocks = 256;

using EdgeKind = std::tuple<uint8_t, uint8_t, uint8_t>;  // from port, to port, type

struct ClaimOnHost {
  bool operator()(Report* report) const {
    return std::atomic_ref<unsigned int>(report->claimed).exchange(1) == 0;
  }
};

// In place of a kernel.
void CUDA_CB RunOnHost(void* data) {
  const NodeWork& work = *static_cast<const NodeWork*>(data);
  const unsigned long long checks =
      Begin(work, 0, 1, ClaimOnHost{}) + End(work, 0, 1, ClaimOnHost{});
  std::atomic_ref<unsigned long long>(work.report->checks) += checks;
}

template <typename T>
void* Unconst(const T* data) {
  return const_cast<void*>(static_cast<const void*>(data));
}

}  // namespace

RebuiltGraph::~RebuiltGraph() {
  if (exec_ != nullptr) driver_.cuGraphExecDestroy(exec_);
  if (graph_ != nullptr) driver_.cuGraphDestroy(graph_);
  for (const CUdeviceptr memory : on_device_) driver_.cuMemFree(memory);
  for (void* memory : on_host_) driver_.cuMemFreeHost(memory);
}

std::string RebuiltGraph::Build() {
  if (std::string problem = Reserve(); !problem.empty()) return problem;
  if (std::string problem = driver_.Problem(driver_.cuGraphCreate(&graph_, 0), "making a graph");
      !problem.empty()) {
    return problem;
  }
  nodes_.resize(job_.node_count);
  works_.resize(job_.node_count);
  for (uint32_t i = 0; i < job_.node_count; ++i) {
    if (std::string problem = AddNode(i); !problem.empty()) return problem;
  }
  if (std::string problem = AddEdges(); !problem.empty()) return problem;
  return driver_.Problem(driver_.cuGraphInstantiateWithFlags(&exec_, graph_, 0), "instantiating");
}

std::string RebuiltGraph::Reserve() {
  return executor_.host_nodes_ ? ReserveOnHost() : ReserveOnDevice();
}

std::string RebuiltGraph::ReserveOnHost() {
  base_.touches = job_.touches;
  base_.stretches = job_.stretches;
  const auto reserve = [&](size_t bytes, void** memory) {
    const CUresult result = driver_.cuMemAllocHost(memory, std::max<size_t>(bytes, 8));
    if (result != CUDA_SUCCESS) return driver_.Problem(result, "reserving memory");
    on_host_.push_back(*memory);
    std::memset(*memory, 0, std::max<size_t>(bytes, 8));
    return std::string();
  };
  void* memory = nullptr;
  void* report = nullptr;
  if (std::string problem = reserve(job_.memory_bytes, &memory); !problem.empty()) return problem;
  if (std::string problem = reserve(sizeof(Report), &report); !problem.empty()) return problem;
  base_.memory = static_cast<unsigned char*>(memory);
  base_.report = static_cast<Report*>(report);
  return "";
}

std::string RebuiltGraph::ReserveOnDevice() {
  const auto reserve = [&](const void* from, size_t bytes, void** to) {
    CUdeviceptr memory = 0;
    const size_t size = std::max<size_t>(bytes, 8);
    CUresult result = driver_.cuMemAlloc(&memory, size);
    if (result != CUDA_SUCCESS) return driver_.Problem(result, "reserving memory");
    on_device_.push_back(memory);
    *to = reinterpret_cast<void*>(memory);
    result = driver_.cuMemsetD8(memory, 0, size);
    if (result == CUDA_SUCCESS && from != nullptr && bytes != 0) {
      result = driver_.cuMemcpyHtoD(memory, from, bytes);
    }
    return driver_.Problem(result, "filling memory");
  };
  void* at[4] = {};
  const struct {
    const void* from;
    size_t bytes;
  } parts[4] = {{job_.touches, job_.touch_count * sizeof(graphkit_touch)},
                {job_.stretches, job_.stretch_count * sizeof(graphkit_stretch)},
                {nullptr, job_.memory_bytes},
                {nullptr, sizeof(Report)}};
  for (int i = 0; i < 4; ++i) {
    std::string problem = reserve(parts[i].from, parts[i].bytes, &at[i]);
    if (!problem.empty()) return problem;
  }
  base_.touches = static_cast<const graphkit_touch*>(at[0]);
  base_.stretches = static_cast<const graphkit_stretch*>(at[1]);
  base_.memory = static_cast<unsigned char*>(at[2]);
  base_.report = static_cast<Report*>(at[3]);
  return "";
}

NodeWork RebuiltGraph::WorkOf(uint32_t index) const {
  NodeWork work = base_;
  work.node = index;
  work.first_touch = job_.nodes[index].first_touch;
  work.touch_count = job_.nodes[index].touches;
  work.held_us = job_.nodes[index].held_us;
  return work;
}

uint64_t RebuiltGraph::BytesOf(uint32_t index) const {
  uint64_t bytes = 0;
  const graphkit_job_node& node = job_.nodes[index];
  for (uint32_t i = 0; i < node.touches; ++i) {
    const graphkit_touch& touch = job_.touches[node.first_touch + i];
    for (uint32_t j = 0; j < touch.stretches; ++j) {
      bytes = std::max(bytes, job_.stretches[touch.first_stretch + j].size);
    }
  }
  return bytes;
}

std::string RebuiltGraph::AddNode(uint32_t index) {
  works_[index] = WorkOf(index);
  const graphkit_job_node& node = job_.nodes[index];
  CUgraphNode* added = &nodes_[index];
  if (node.touches == 0 && node.kernel == 0) {
    return driver_.Problem(driver_.cuGraphAddEmptyNode(added, graph_, nullptr, 0), "adding a node");
  }
  if (!executor_.host_nodes_) return AddKernel(index, added);
  CUDA_HOST_NODE_PARAMS params{};
  params.fn = RunOnHost;
  params.userData = &works_[index];
  return driver_.Problem(driver_.cuGraphAddHostNode(added, graph_, nullptr, 0, &params),
                         "adding a host node");
}

std::string RebuiltGraph::AddKernel(uint32_t index, CUgraphNode* node) {
  const uint64_t threads = std::max<uint64_t>(BytesOf(index) / 8, 1);
  void* arguments[] = {Unconst(&works_[index])};
  CUDA_KERNEL_NODE_PARAMS params{};
  params.func = executor_.canary_;
  if (job_.nodes[index].kernel != 0) params.func = executor_.early_;
  if (job_.nodes[index].waits != 0) params.func = executor_.waits_;
  params.gridDimX =
      static_cast<unsigned int>(std::min((threads + kThreads - 1) / kThreads, kMostBlocks));
  params.gridDimY = params.gridDimZ = 1;
  params.blockDimX = kThreads;
  params.blockDimY = params.blockDimZ = 1;
  params.kernelParams = arguments;
  return driver_.Problem(driver_.cuGraphAddKernelNode(node, graph_, nullptr, 0, &params),
                         "adding a kernel");
}

// A call for each kind of edge: drivers 580 to 610 were seen to give all edges of a call the data
// of its first.
std::string RebuiltGraph::AddEdges() {
  struct Edges {
    std::vector<CUgraphNode> from, to;
    std::vector<CUgraphEdgeData> data;
  };
  std::map<EdgeKind, Edges> kinds;
  for (uint32_t i = 0; i < job_.edge_count; ++i) {
    const graphkit_job_edge& edge = job_.edges[i];
    Edges& edges = kinds[{edge.from_port, edge.to_port, edge.type}];
    edges.from.push_back(nodes_[edge.from]);
    edges.to.push_back(nodes_[edge.to]);
    CUgraphEdgeData one{};
    one.from_port = edge.from_port;
    one.to_port = edge.to_port;
    one.type = edge.type;
    edges.data.push_back(one);
  }
  for (const auto& [kind, edges] : kinds) {
    const CUresult result = driver_.cuGraphAddDependencies(
        graph_, edges.from.data(), edges.to.data(), edges.data.data(), edges.from.size());
    if (result != CUDA_SUCCESS) return driver_.Problem(result, "adding edges");
  }
  return CheckEdges();
}

// The graph has the edges that it was given, with their data.
std::string RebuiltGraph::CheckEdges() const {
  using Edge = std::tuple<CUgraphNode, CUgraphNode, EdgeKind>;
  std::vector<Edge> wanted, there;
  for (uint32_t i = 0; i < job_.edge_count; ++i) {
    const graphkit_job_edge& edge = job_.edges[i];
    wanted.push_back(
        {nodes_[edge.from], nodes_[edge.to], EdgeKind{edge.from_port, edge.to_port, edge.type}});
  }
  size_t count = 0;
  CUresult result = driver_.cuGraphGetEdges(graph_, nullptr, nullptr, nullptr, &count);
  std::vector<CUgraphNode> from(count), to(count);
  std::vector<CUgraphEdgeData> data(count);
  if (result == CUDA_SUCCESS && count != 0) {
    result = driver_.cuGraphGetEdges(graph_, from.data(), to.data(), data.data(), &count);
  }
  if (result != CUDA_SUCCESS) return driver_.Problem(result, "reading edges");
  for (size_t i = 0; i < count; ++i) {
    there.push_back({from[i], to[i], EdgeKind{data[i].from_port, data[i].to_port, data[i].type}});
  }
  std::ranges::sort(wanted);
  std::ranges::sort(there);
  if (wanted == there) return "";
  return "the driver gave the graph's edges other data than they were added with";
}

std::string RebuiltGraph::Launch(graphkit_job_outcome* outcome) {
  CUresult launched = driver_.cuGraphLaunch(exec_, executor_.stream_);
  if (launched == CUDA_SUCCESS) launched = driver_.cuStreamSynchronize(executor_.stream_);
  if (launched != CUDA_SUCCESS) return driver_.Problem(launched, "running the graph");
  Report report{};
  if (executor_.host_nodes_) {
    report = *base_.report;
  } else if (const CUresult result = driver_.cuMemcpyDtoH(
                 &report, reinterpret_cast<CUdeviceptr>(base_.report), sizeof report);
             result != CUDA_SUCCESS) {
    return driver_.Problem(result, "reading the result");
  }
  outcome->checks = report.checks;
  outcome->faulty = report.claimed != 0 ? 1 : 0;
  outcome->node = report.node;
  outcome->touch = report.touch;
  outcome->found = report.found;
  return "";
}

}  // namespace graphkit::exec
