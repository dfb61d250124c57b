// Nodes of cudaGraphDebugDotPrint's drawings. With the flag for a node's kind, or verbose, its
// label is a record,
//
//     {KERNEL
//     | {ID | 3 (topoId: 1) | _Z3addPf\<\<\<\{16,2,1\},128,0\>\>\>}
//     | {{node handle | func handle} | {0x… | 0x…}} …
//
// else lines. The first is the node's number; the second the name of the kernel or of the graph
// that the node holds, and for other kinds the kind:
//
//     "graph_1_node_0"[style="bold" shape="octagon" label="0      "…"[… shape="rectangle" label="4
//     _Z3addPf                                                    graph_2
//     "];                                                         "];
//
// Only kernels are drawn bold, and as octagons.
#pragma once

#include <string>
#include <vector>

#include "libgraphkit/io/import/dot_graph.h"
#include "libgraphkit/io/import/trace_maker.h"

namespace graphkit {

struct DrawnNode {
  DraftNode node;
  std::vector<std::string> graphs;  // clusters that the node holds, by their labels
};

// Kind, kernel, shape and inner graphs of a node, from its label, shape and style.
DrawnNode ReadDrawnNode(const DotAttributes& attributes);

}  // namespace graphkit
