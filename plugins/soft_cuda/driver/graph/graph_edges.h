// Dependencies as the API gives and takes them: arrays of nodes beside arrays of edge data.
#pragma once

#include <cuda.h>

#include <span>
#include <vector>

#include "plugins/soft_cuda/model/graph.h"
#include "plugins/soft_cuda/model/stream.h"

namespace graphkit::soft::driver {

// False: a node that isn't the graph's, a node twice, or edge data that its node can't have.
bool ReadDependencies(Graph* graph, const CUgraphNode* nodes, const CUgraphEdgeData* data,
                      size_t count, std::vector<Edge>* edges);
// Is this edge data possible on an edge out of this node?
bool IsPossible(const Node& from, const CUgraphEdgeData& data);
bool AllFull(std::span<const Edge> edges);

// Writes up to *count edge ends; a null `nodes` asks for the number only. Loses no edge data
// silently (402).
CUresult WriteEdges(std::span<const Edge> edges, CUgraphNode* nodes, CUgraphEdgeData* data,
                    size_t* count);

// Shows a stream's dependency set in memory that stays until the set changes.
void ShowDependencies(Stream* stream, const CUgraphNode** nodes, const CUgraphEdgeData** data,
                      size_t* count);

}  // namespace graphkit::soft::driver
