// The result of reading another tool's file. Each format has one file in this folder, and a row in
// file_format.cpp.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

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

// PyTorch's record of a graph's node: where it was launched, and how it was marked.
struct NodeOrigin {
  uint64_t tool_id = 0;
  StackId stack = {};
  std::string label = {};
  bool operator==(const NodeOrigin&) const = default;
};

// A file as a trace, and keys for joining it with other files.
struct Imported {
  Trace trace;
  std::map<NodeId, uint64_t> tool_ids;  // of nodes that have one
  std::vector<NodeTime> times;          // profiles: of graphs' nodes
  std::vector<NodeOrigin> origins;      // torch-nodes
};

// "1 graph, 2 nodes, 1 edge".
std::string CountsOf(const Trace& trace);

}  // namespace graphkit
