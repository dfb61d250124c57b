#include "plugins/soft_cuda/driver/graph_memory.h"

#include <algorithm>

namespace graphkit::soft::driver {
namespace {

// Free nodes further back than this many nodes are not looked for.
constexpr uint32_t kReuseWindow = 4096;

MemAllocParams* AllocationOf(Node* node) {
  auto* params =
      node != nullptr ? std::get_if<std::unique_ptr<MemAllocParams>>(&node->params) : nullptr;
  return params != nullptr ? params->get() : nullptr;
}

bool InUse(const Graph& graph, CUdeviceptr address) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](Node* node) {
    const MemAllocParams* p = AllocationOf(node);
    return p != nullptr && p->params.dptr == address && !p->freed_in_graph;
  });
}

// An address whose free node lies before the dependencies and whose block is large enough; 0: none.
CUdeviceptr Reusable(const Graph& graph, std::span<const Edge> dependencies, size_t bytes) {
  Device& device = Device::Get();
  const uint32_t mark = MarkAncestors(dependencies, true);
  uint32_t looked = 0;
  for (auto at = graph.nodes.rbegin(); at != graph.nodes.rend() && looked < kReuseWindow;
       ++at, ++looked) {
    const auto* freed = *at != nullptr ? std::get_if<MemFreeParams>(&(*at)->params) : nullptr;
    if (freed == nullptr || (*at)->mark != mark) continue;
    auto block = device.allocations.find(freed->address);
    if (block != device.allocations.end() && block->second.size >= bytes &&
        !InUse(graph, freed->address)) {
      return freed->address;
    }
  }
  return 0;
}

}  // namespace

CUresult PlaceGraphAllocation(Graph* graph, std::span<const Edge> dependencies,
                              CUDA_MEM_ALLOC_NODE_PARAMS& params) {
  Device& device = Device::Get();
  if (params.bytesize == 0) return CUDA_ERROR_INVALID_VALUE;
  params.dptr = graph->memory_nodes > 0 ? Reusable(*graph, dependencies, params.bytesize) : 0;
  if (params.dptr == 0)
    params.dptr = device.Allocate(AllocationKind::kGraph, params.bytesize, CurrentContext());
  return params.dptr != 0 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

MemAllocParams* OpenAllocation(Graph* graph, CUdeviceptr address) {
  for (auto at = graph->nodes.rbegin(); at != graph->nodes.rend(); ++at) {
    MemAllocParams* p = AllocationOf(*at);
    if (p != nullptr && p->params.dptr == address && !p->freed_in_graph) return p;
  }
  return nullptr;
}

void MarkGraphAllocation(CUdeviceptr address, bool live) {
  Device& device = Device::Get();
  auto block = device.allocations.find(address);
  if (block == device.allocations.end() || block->second.live == live) return;
  block->second.live = live;
  GraphMemory& memory = device.graph_memory;
  if (!live) {
    memory.used -= block->second.size;
    return;
  }
  memory.used += block->second.size;
  memory.used_high = std::max(memory.used_high, memory.used);
  memory.reserved = std::max(memory.reserved, memory.used);
  memory.reserved_high = std::max(memory.reserved_high, memory.reserved);
}

bool AnyAllocationLive(const Graph& exec) {
  Device& device = Device::Get();
  return std::any_of(exec.nodes.begin(), exec.nodes.end(), [&](Node* node) {
    const MemAllocParams* p = AllocationOf(node);
    if (p == nullptr) return false;
    auto block = device.allocations.find(p->params.dptr);
    return block != device.allocations.end() && block->second.live;
  });
}

}  // namespace graphkit::soft::driver
