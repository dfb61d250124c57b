// Reads other tools' files as traces. One format a file of this folder, one row each in the table
// of import.cpp.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libgraphkit/io/bytes/file_bytes.h"
#include "libgraphkit/model/snapshot_info.h"
#include "libgraphkit/model/trace.h"
#include "libgraphkit/result.h"

namespace graphkit {

// How long a node of a graph ran, summed over its launches.
struct NodeTime {
  uint64_t tool_id = 0;   // graph id << 32 | node id, as CUPTI has it
  std::string name;       // of the kernel; empty: none
  uint64_t launches = 0;  // with a duration
  uint64_t total_ns = 0;
  bool operator==(const NodeTime&) const = default;
};

// What PyTorch says of a graph's node: where it was launched, and how it was marked.
struct NodeOrigin {
  uint64_t tool_id = 0;
  StackId stack = {};
  std::string label = {};
  bool operator==(const NodeOrigin&) const = default;
};

// What was read, and what there is to say about it.
struct Imported {
  Trace trace;
  std::vector<std::string> summary;      // a line each, for people
  std::map<NodeId, uint64_t> tool_ids;   // of nodes that have one
  std::vector<NodeTime> times;           // profiles: of graphs' nodes
  std::vector<NodeOrigin> origins;       // torch-nodes
  std::optional<SnapshotInfo> snapshot;  // torch-snapshot
  const char* format = nullptr;          // the name of its row; null: a trace of graphkit
};

struct ImportFormat {
  const char* name;  // "torch-snapshot"
  const char* what;  // one line for people
  // Whether a file that begins with `head` (at most kHeadBytes, decompressed) is probably one.
  bool (*is)(std::string_view head);
  // The whole file. Bytes behind its end may be read (kReadPadding) where `padded` asks for it.
  Result<Imported> (*read)(std::string_view bytes);
  bool padded = false;
};

inline constexpr size_t kHeadBytes = size_t{64} * 1024;
inline constexpr size_t kReadPadding = 64;

// "1 node", "2 nodes".
std::string CountOf(uint64_t count, const std::string& noun);
// "1 graph, 2 nodes, 1 edge".
std::string CountsOf(const Trace& trace);

std::span<const ImportFormat> ImportFormats();
// Null when there is none of that name.
const ImportFormat* FindImportFormat(std::string_view name);
// The format of a file that begins with `head`; null when it is none that is known.
const ImportFormat* GuessImportFormat(std::string_view head);

// Whether a file that begins with `head` is a trace of graphkit.
bool IsTraceHead(std::string_view head);

// Reads the file at `path` ("-": stdin; compressed or not) as `format`; null: guesses, and reads a
// trace as well. Errors name the file.
Result<Imported> ImportFile(const std::string& path, const ImportFormat* format = nullptr,
                            std::atomic<size_t>* read = nullptr);
// The same of a file that is open: `path` says its name.
Result<Imported> ImportSource(std::unique_ptr<ByteSource> source, const std::string& path,
                              const ImportFormat* format = nullptr);

}  // namespace graphkit
