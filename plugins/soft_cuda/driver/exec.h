// Execs behind their handles, and new parameters for their nodes.
#pragma once

#include <cuda.h>

#include "plugins/soft_cuda/model/graph.h"

namespace graphkit::soft::driver {

Graph* FindExec(CUgraphExec handle);  // null: not an exec

// Can a node of an exec take these parameters and attributes? If not, why.
CUgraphExecUpdateResult CheckChange(const Graph& exec, const Node& node, const NodeParams& to);
// The same for all nodes of a graph that is to be like `into`, node by node in order of creation.
CUgraphExecUpdateResultInfo CheckUpdate(const Graph& exec, const Graph& into, const Graph& from);
void ApplyUpdate(Graph* exec, Graph* into, const Graph& from);

}  // namespace graphkit::soft::driver
