// Rules for changing graphs and execs, and for putting them into one another.
#pragma once

#include <cuda.h>

#include "plugins/soft_cuda/model/graph.h"

namespace graphkit::soft::driver {

bool IsEditable(const Graph* graph);  // null: no
bool InBody(const Graph& graph);      // is it, or lies it in, a body of a conditional node?
// May a body graph hold such a node when it is instantiated? Any node can be added before.
bool IsBodyType(CUgraphNodeType type);
bool CanHaveBodies(CUgraphConditionalNodeType type, unsigned count);

// Can `child` become a child graph node of `parent`?
CUresult CheckChild(const Graph* child, const Graph& parent, bool move);

// The first node, at any depth, that a body graph can't hold; null: none.
Node* ForbiddenInBodies(const Graph& graph);
// The first node that a graph for device launch can't hold; null: none.
Node* ForbiddenOnDevice(const Graph& graph);
bool AllHandlesUsed(const Graph& graph);

Graph* FindExec(CUgraphExec handle);  // null: not an exec

// Can a node of an exec take these parameters and attributes? If not, why.
CUgraphExecUpdateResult CheckChange(const Graph& exec, const Node& node, const NodeParams& to);
// The same for all nodes of a graph that is to be like `into`, node by node in order of creation.
CUgraphExecUpdateResultInfo CheckUpdate(const Graph& exec, const Graph& into, const Graph& from);
void ApplyUpdate(Graph* exec, Graph* into, const Graph& from);

}  // namespace graphkit::soft::driver
