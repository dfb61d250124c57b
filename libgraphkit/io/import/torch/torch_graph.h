// Reads what torch.cuda.export_graph_data wrote, or a pickle of CUDAGraph.get_graph_data() (PyTorch
// #183165, #196018): a dict with the nodes of one graph, or a list or a dict of such dicts.
//
//     {"exec_graph_id": 5, "nodes": [{"index": 0, "node_type": "kernel", "kernel_name": "…",
//       "tools_id": 5 << 32 | 3, "dependencies": [], …}, …]}
#pragma once

#include <string_view>

#include "libgraphkit/io/import/import.h"

namespace graphkit {

// The row of the table of import.cpp.
bool IsTorchGraph(std::string_view head);
Result<Imported> ReadTorchGraph(std::string_view bytes);

}  // namespace graphkit
