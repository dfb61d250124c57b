// The memory of graph allocation nodes: addresses are fixed when the node is made, and live from a
// launch that passes the allocation node until one that passes its free node, or a free outside.
#pragma once

#include <cuda.h>

#include <span>

#include "plugins/soft_cuda/device/device.h"

namespace graphkit::soft::driver {

// Finds the address of a new allocation node that will follow `dependencies`: one that this graph
// has freed before it, where the size fits, else a fresh one. Fills params.dptr.
CUresult PlaceGraphAllocation(Graph* graph, std::span<const Edge> dependencies,
                              CUDA_MEM_ALLOC_NODE_PARAMS& params);
// The address was allocated by a node of this graph and not freed in it yet.
MemAllocParams* OpenAllocation(Graph* graph, CUdeviceptr address);
void MarkGraphAllocation(CUdeviceptr address, bool live);
bool AnyAllocationLive(const Graph& exec);  // of those that the graph doesn't free itself

}  // namespace graphkit::soft::driver
