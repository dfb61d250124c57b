// Reads what cudaGraphDebugDotPrint writes, with any of its flags: graphs, nodes and edges. Of a
// node its kind and, of a kernel, its name and shape are read; the rest is passed over, as is
// everything that isn't known. Node `graph_3_node_7` is taken to be node 7 of graph 3 in CUPTI's
// numbering: with kineto and nsys it is joined only where the kernels' names agree.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libgraphkit/io/import/dot_graph.h"
#include "libgraphkit/io/import/graph_draft.h"
#include "libgraphkit/io/import/import.h"

namespace graphkit {

struct DrawnNode {
  DraftNode node;
  std::vector<std::string> graphs;  // clusters that the node holds, by their labels
};

// Kind, kernel, shape and inner graphs of a node, from its label, shape and style.
DrawnNode ReadDrawnNode(const DotAttributes& attributes);

// The row of the table of import.cpp.
bool IsDot(std::string_view head);
Result<Imported> ReadDot(std::string_view bytes);

}  // namespace graphkit
