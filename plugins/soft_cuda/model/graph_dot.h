// A graph as DOT text, in the format of cuGraphDebugDotPrint:
//
//   digraph dot {
//   subgraph cluster_1 {
//   label="graph_1" graph[style="dashed"];
//   "graph_1_node_0"[style="bold" shape="octagon" label="0
//   _Z5TouchPf
//   "];
//
//   "graph_1_node_0" -> "graph_1_node_1";
//   }
//   }
//
// Each inner graph is a cluster of its own. What public dumps of CUDA 12 show: without flags
// kernels and child graphs; verbose, kernels, copies and sets. Not known, and taken to be alike:
// the labels of all other kinds, the shape of what is neither kernel nor child without flags, a
// conditional node's line for each body, which part of a record each flag gives, and in which
// order the topoId counts.
#pragma once

#include <string>

#include "plugins/soft_cuda/model/graph.h"

namespace graphkit::soft {

// flags: CUgraphDebugDot_flags
std::string DotText(const Graph& graph, unsigned flags);

}  // namespace graphkit::soft
