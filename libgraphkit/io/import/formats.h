// The formats of other tools: for each the test of a file's first bytes, and the reader of the
// whole file. Their rows are in file_format.cpp.
#pragma once

#include <string_view>

#include "libgraphkit/io/import/import.h"

namespace graphkit {

// A file of torch.cuda.memory._dump_snapshot: torch/torch_snapshot.h.
bool IsTorchSnapshot(std::string_view head);
Result<Imported> ReadTorchSnapshotTrace(std::string_view bytes);

// A file of torch.cuda.export_graph_data, or a pickle of CUDAGraph.get_graph_data() (PyTorch
// #183165, #196018): a dict with the nodes of one graph, or a list or a dict of such dicts.
//
//     {"exec_graph_id": 5, "nodes": [{"index": 0, "node_type": "kernel", "kernel_name": "…",
//       "tools_id": 5 << 32 | 3, "dependencies": [], …}, …]}
bool IsTorchGraph(std::string_view head);
Result<Imported> ReadTorchGraph(std::string_view bytes);

// By node of a graph, what torch.cuda.graph_annotations keeps (PyTorch #195785, #198098): the file
// of dump_kernel_py_stacks, or dict(get_kernel_annotations()) as JSON or, where the format is
// named, a pickle. The keys are tools ids.
//
//     {"21474836483": "/app/model.py:12:forward\n/app/train.py:30:<module>", …}
//     {"21474836483": [{"name": "attention"}], …}
bool IsTorchNodes(std::string_view head);
Result<Imported> ReadTorchNodes(std::string_view bytes);

// Drawings of cudaGraphDebugDotPrint, with any of its flags: graphs, nodes, edges. Of a node its
// kind and, of a kernel, its name and shape are read; the rest is passed over, as is everything
// that isn't known. Node `graph_3_node_7` is taken to be node 7 of graph 3 in CUPTI's
// numbering: with kineto and nsys it is joined only where the kernels' names agree.
bool IsDot(std::string_view head);
Result<Imported> ReadDot(std::string_view bytes);

// The log of RMM's logging resource adaptor: rows of Thread,Time,Action,Pointer,Size,Stream. An
// allocation that failed is a failure; a row that can't be read is counted.
bool IsRmmLog(std::string_view head);
Result<Imported> ReadRmmLog(std::string_view bytes);

// The Chrome traces of PyTorch's profiler (Kineto), compressed or not: how long each node of each
// graph ran. Kernels, copies and sets carry "graph id" and "graph node id" from CUDA 12 on; either
// the node id is whole (graph id << 32 | node id) or it counts inside the graph.
bool IsKineto(std::string_view head);
Result<Imported> ReadKineto(std::string_view bytes);  // padded

// The SQLite export of Nsight Systems (`nsys export --type sqlite`): the tables of CUDA graphs and
// of memory.
//   CUPTI_ACTIVITY_KIND_{KERNEL,MEMCPY,MEMSET} with graphNodeId: how long graphs' nodes ran
//   CUPTI_ACTIVITY_KIND_GRAPH_TRACE: launches, where whole graphs were traced
//   CUDA_GPU_MEMORY_USAGE_EVENTS: what the driver was asked for
// Tables and columns that aren't there are done without. Of several processes the one with the most
// work is read. Without SQLite reading is an error that says so.
bool IsNsys(std::string_view head);
Result<Imported> ReadNsys(std::string_view bytes);

}  // namespace graphkit
