#include "plugins/soft_cuda/driver/stream/graph_memory.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "plugins/soft_cuda/driver/stream/leftovers.h"

namespace graphkit::soft::driver {
namespace {

// How many nodes before an allocation are searched for a free address. Which freed address the
// driver takes isn't documented, so any bound is as right as another.
constexpr size_t kSearched = 1024;

// An address that a node before the dependencies has freed and whose block is large enough, the
// nearest first; 0: none.
CUdeviceptr Reusable(const Graph& graph, std::span<const Edge> dependencies, size_t bytes,
                     const Gpu& gpu, MemoryOf of) {
  CUdeviceptr found = 0;
  VisitAncestors(dependencies, kSearched, [&](const Node& node) {
    const auto* freed = std::get_if<MemFreeParams>(&node.params);
    if (freed == nullptr || !graph.addresses.IsIdle(freed->address, &node, bytes)) return false;
    if (!gpu.memory.Contains(freed->address)) return false;
    const auto block = Device::Get().allocations.find(freed->address);
    if (block == Device::Get().allocations.end() || block->second.of != of) return false;
    found = freed->address;
    return true;
  });
  return found;
}

MemAllocParams* AllocationOf(const Node& node) {
  const auto* params = std::get_if<std::unique_ptr<MemAllocParams>>(&node.params);
  return params != nullptr ? params->get() : nullptr;
}

// The pages of the device that an address of a graph lies on.
GraphPages& PagesAt(CUdeviceptr address) {
  Gpu* gpu = Device::Get().GpuAt(address);
  return (gpu != nullptr ? *gpu : Device::Get().gpus.front()).graph_pages;
}

// A graph's memory is mapped in steps of this (an H200 with driver 580.159.04).
constexpr uint64_t kGraphPage = uint64_t{32} << 20;

uint64_t WholePages(uint64_t bytes) { return (bytes + kGraphPage - 1) / kGraphPage * kGraphPage; }

// Calls visit(its parameters or null, address) for each allocation and each free node.
template <typename Visit>
void VisitAddresses(const Graph& graph, const Visit& visit) {
  for (const Node* node : graph.nodes) {
    if (const MemAllocParams* p = AllocationOf(*node)) visit(p, p->params.dptr);
    if (const auto* p = std::get_if<MemFreeParams>(&node->params)) visit(nullptr, p->address);
    for (const Graph* inner : InnerGraphs(*node)) VisitAddresses(*inner, visit);
  }
}

}  // namespace

CUresult PlaceGraphAllocation(Graph* graph, std::span<const Edge> dependencies,
                              CUDA_MEM_ALLOC_NODE_PARAMS& params) {
  Device& device = Device::Get();
  params.dptr = 0;
  Gpu* gpu = device.GpuOf(params.poolProps);
  if (gpu == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const MemoryOf of = MemoryOfPool(params.poolProps);
  if (graph->addresses.AnyIdle(params.bytesize))
    params.dptr = Reusable(*graph, dependencies, params.bytesize, *gpu, of);
  if (params.dptr == 0) {
    params.dptr = device.AllocateOn(gpu, AllocationKind::kGraph, params.bytesize, CurrentContext());
    if (params.dptr == 0) return CUDA_ERROR_OUT_OF_MEMORY;
    Allocation& made = device.allocations.at(params.dptr);
    made.live = false;
    made.of = of;
  }
  graph->addresses.Allocate(params.dptr, params.bytesize);
  return CUDA_SUCCESS;
}

bool CanFreeInGraph(const Graph& graph, CUdeviceptr address) {
  using State = GraphAddresses::State;
  const State state = graph.addresses.Find(address);
  // Once an exec was made of the graph, no new node of it can free its memory.
  if (state != State::kUnknown) return state == State::kAllocated && !graph.instantiated;
  auto block = Device::Get().allocations.find(address);
  return block != Device::Get().allocations.end() && block->second.kind == AllocationKind::kGraph;
}

void MarkGraphAllocation(CUdeviceptr address, bool live) {
  Device& device = Device::Get();
  auto block = device.allocations.find(address);
  if (block == device.allocations.end() || block->second.live == live) return;
  block->second.live = live;
  if (!live) ReleaseIfUnused(address);
}

void FreeGraphAllocation(CUdeviceptr address, const Stream* stream) {
  Device& device = Device::Get();
  GraphPages& pages = PagesAt(address);
  MarkGraphAllocation(address, false);
  if (stream != nullptr) {
    pages.Unmap(address, stream->id, stream->time_ns);
  } else {
    pages.Unmap(address, 0, device.host_time_ns);
  }
}

CUresult MapAllocations(const Graph& exec, const Stream& stream) {
  Device& device = Device::Get();
  std::vector<std::pair<CUdeviceptr, size_t>> unmapped;
  VisitAddresses(exec, [&](const MemAllocParams* p, CUdeviceptr address) {
    if (p != nullptr && MemoryOfPool(p->params.poolProps) == MemoryOf::kDevice &&
        !PagesAt(address).IsMapped(address))
      unmapped.emplace_back(address, p->params.bytesize);
  });
  // An address that serves several allocations in turn needs the pages of the largest.
  std::sort(unmapped.begin(), unmapped.end(), std::greater<>());
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  unmapped.erase(std::unique(unmapped.begin(), unmapped.end(), same), unmapped.end());
  for (const Gpu& gpu : device.gpus) {
    uint64_t bytes = 0;
    size_t* last = nullptr;
    for (auto& [address, size] : unmapped) {
      if (!gpu.memory.Contains(address)) continue;
      bytes += size;
      last = &size;
    }
    if (last != nullptr) *last += WholePages(bytes) - bytes;
    bytes = WholePages(bytes);
    const uint64_t takeable = gpu.graph_pages.Takeable(stream.id, device.host_time_ns);
    if (bytes > takeable + gpu.free_bytes()) return CUDA_ERROR_OUT_OF_MEMORY;
  }
  for (const auto& [address, size] : unmapped)
    PagesAt(address).Map(address, size, stream.id, device.host_time_ns);
  return CUDA_SUCCESS;
}

void UnmapFreed(const Graph& exec, const Stream& stream) {
  Device& device = Device::Get();
  VisitAddresses(exec, [&](const MemAllocParams*, CUdeviceptr address) {
    auto block = device.allocations.find(address);
    if (block == device.allocations.end() || !block->second.live)
      PagesAt(address).Unmap(address, stream.id, stream.time_ns);
  });
}

bool AnyAllocationLive(const Graph& graph) {
  const Device& device = Device::Get();
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node* node) {
    if (const auto* child = std::get_if<ChildParams>(&node->params))
      return child->graph->memory_nodes > 0 && AnyAllocationLive(*child->graph);
    const MemAllocParams* p = AllocationOf(*node);
    if (p == nullptr) return false;
    auto block = device.allocations.find(p->params.dptr);
    return block != device.allocations.end() && block->second.live;
  });
}

void FreeAllocations(const Graph& exec) {
  for (const Node* node : exec.nodes) {
    if (const MemAllocParams* p = AllocationOf(*node)) MarkGraphAllocation(p->params.dptr, false);
    for (const Graph* inner : InnerGraphs(*node)) FreeAllocations(*inner);
  }
}

}  // namespace graphkit::soft::driver
