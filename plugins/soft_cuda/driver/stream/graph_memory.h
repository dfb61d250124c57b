// Memory of a graph's allocation nodes: addresses are fixed when the node is made, and live from a
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
// May a free node of this graph name the address? An allocation of this graph that it didn't free
// yet, or one of another graph.
bool CanFreeInGraph(const Graph& graph, CUdeviceptr address);
void MarkGraphAllocation(CUdeviceptr address, bool live);
// A free outside graphs, in a stream or (null) of the host.
void FreeGraphAllocation(CUdeviceptr address, const Stream* stream);
// Pages for what a launch in the stream allocates; none where the device is full.
CUresult MapAllocations(const Graph& exec, const Stream& stream);
// After it: idle are the pages of what isn't live.
void UnmapFreed(const Graph& exec, const Stream& stream);
bool AnyAllocationLive(const Graph& exec);  // left over from an earlier launch
void FreeAllocations(const Graph& exec);

}  // namespace graphkit::soft::driver
