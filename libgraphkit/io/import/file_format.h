// The formats of the files that graphkit reads, one row each in the table of file_format.cpp. A
// file is opened once; its first bytes choose the row, and the row says how the rest is read.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libgraphkit/io/bytes/byte_source.h"
#include "libgraphkit/io/import/trace_maker.h"
#include "libgraphkit/model/file_about.h"
#include "libgraphkit/model/trace.h"
#include "libgraphkit/result.h"

namespace graphkit {

struct FileFormat {
  // A command that goes on from such a file, and its purpose. The file's name replaces FILE; the
  // name of the file that a trace was imported from replaces SOURCE.
  struct Next {
    const char* command = nullptr;
    const char* shows = nullptr;
  };

  const char* name;   // "torch-snapshot", "plan": in JSON and on the command line
  const char* title;  // "PyTorch memory snapshot"
  // The test of a file's first bytes (at most kHeadBytes, decompressed).
  bool (*is)(std::string_view head);
  // Formats of other tools: the file that `graphkit import` reads as a trace, in one line.
  const char* written_by = nullptr;
  // The reader of the whole file, if it is read as a trace.
  Result<Imported> (*read)(std::string_view bytes) = nullptr;
  // Figures of all its bytes ("335 placements", "peak 40 MiB"), if it isn't read as a trace.
  std::vector<std::string> (*facts)(std::string_view bytes) = nullptr;
  std::array<Next, 4> next = {};
};

inline constexpr size_t kHeadBytes = size_t{64} * 1024;

std::span<const FileFormat> FileFormats();
// Null: there is none of that name.
const FileFormat* FindFormat(std::string_view name);
// The format of a file that begins with `head`; null: it isn't known.
const FileFormat* GuessFormat(std::string_view head);
// The row of graphkit's own traces.
const FileFormat& TraceFormat();

// The format as a file's description, without facts.
FileAbout AboutFormat(const FileFormat& format);
// The same with facts, of a file that isn't read as a trace.
FileAbout DescribeBytes(const FileFormat& format, std::string_view bytes);

struct OpenedFile {
  std::string path;  // "-": standard input
  std::unique_ptr<ByteSource> source;
  std::string head;                    // of the source, which still gives it
  const FileFormat* format = nullptr;  // null: not known

  bool holds_trace() const { return format && (format->read || format == &TraceFormat()); }
};

// Errors name the file. `read` counts the bytes that were read of the file; may be null.
Result<OpenedFile> OpenInput(const std::string& path, std::atomic<size_t>* read = nullptr);
// Reads the rest as a trace; an error for a file of another format.
Result<Imported> ReadAsTrace(OpenedFile file);

// Opens and reads a file as `format`; null: its first bytes choose.
Result<Imported> ImportFile(const std::string& path, const FileFormat* format = nullptr,
                            std::atomic<size_t>* read = nullptr);

// The formats of other tools: for each the test of a file's first bytes, and the reader of the
// whole file. Their rows are in file_format.cpp.

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
Result<Imported> ReadKineto(std::string_view bytes);

// The SQLite export of Nsight Systems (`nsys export --type sqlite`): the tables of CUDA graphs and
// of memory.
//   CUPTI_ACTIVITY_KIND_{KERNEL,MEMCPY,MEMSET} with graphNodeId: how long graphs' nodes ran
//   CUPTI_ACTIVITY_KIND_GRAPH_TRACE: launches, where whole graphs were traced
//   CUDA_GPU_MEMORY_USAGE_EVENTS: what the driver was asked for
// Tables and columns that aren't there are done without. Of several processes the one with the most
// work is read. Without SQLite reading is an error that says so.
bool IsNsys(std::string_view head);
Result<Imported> ReadNsys(std::string_view bytes);

// A folder is read as the traces in it. None: it isn't a folder.
std::optional<FileAbout> DescribeFolder(const std::string& path);

}  // namespace graphkit
