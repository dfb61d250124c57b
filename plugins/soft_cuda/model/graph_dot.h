// A graph as DOT text, in the format of cuGraphDebugDotPrint as CUDA 12.8 was seen to write it:
//
//   digraph dot {
//   subgraph cluster_1 {
//   label="graph_1" graph[style="dashed"];
//   "graph_1_node_0"[style="solid" shape="octagon" label="0
//   _Z5TouchPf
//   "];
//   "graph_1_node_0" -> "graph_1_node_1";
//   }
//   }
//
// Each inner graph is a cluster of its own. The records of kernels and copies with flags are by
// that sample; those of other node types, and the dump without flags, aren't.
#pragma once

#include <string>

#include "plugins/soft_cuda/model/graph.h"

namespace graphkit::soft {

// flags: CUgraphDebugDot_flags
std::string DotText(const Graph& graph, unsigned flags);

}  // namespace graphkit::soft
