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
// Each inner graph is a cluster of its own, breadth first. The forms at each flag are those of an
// H200 with driver 580.159.04 for a graph with a node of every type (testdata/dot). Not seen:
// copies other than from device to device, memory pools with handles, operations on values other
// than a write of 32 bits, and in which order the topoId counts where a graph has several ends.
#pragma once

#include <string>

#include "plugins/soft_cuda/model/graph.h"

namespace graphkit::soft {

// flags: CUgraphDebugDot_flags
std::string DotText(const Graph& graph, unsigned flags);

}  // namespace graphkit::soft
