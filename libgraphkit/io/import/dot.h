// Reads what cudaGraphDebugDotPrint writes, with any of its flags: graphs, nodes and edges. Of a
// node's label its kind and, of a kernel, its name and shape are read; the rest is passed over, as
// is everything that isn't known. Node `graph_3_node_7` is taken to be node 7 of graph 3 in CUPTI's
// numbering: with kineto and nsys it is joined only where the kernels' names agree.
#pragma once

#include <string_view>

#include "libgraphkit/io/import/graph_draft.h"
#include "libgraphkit/io/import/import.h"

namespace graphkit {

// Kind, kernel and shape of a node, from its label.
DraftNode ParseDotLabel(std::string_view label);

// The row of the table of import.cpp.
bool IsDot(std::string_view head);
Result<Imported> ReadDot(std::string_view bytes);

}  // namespace graphkit
