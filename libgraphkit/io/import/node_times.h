// What a profile measured of graphs' nodes, gathered, and made into a trace: a graph for each graph
// id, with the nodes that ran. A profile has no edges: the trace is incomplete.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libgraphkit/io/import/import.h"
#include "libgraphkit/io/import/trace_maker.h"

namespace graphkit {

// One run of a node.
struct NodeRun {
  uint64_t tool_id = 0;  // graph id << 32 | node id
  NodeKind kind = NodeKind::kUnknown;
  std::string_view kernel;
  LaunchShape shape;
  uint64_t stream = 0;
  uint32_t device = 0;
  uint64_t duration_ns = 0;
};

class NodeTimes {
 public:
  void Add(const NodeRun& run);
  bool empty() const { return nodes_.empty(); }
  size_t size() const { return nodes_.size(); }
  uint64_t runs() const { return runs_; }

  // The graphs with their nodes, in order of their ids; durations are means.
  void MakeGraphs(TraceMaker& make) const;
  std::vector<NodeTime> Times() const;

 private:
  struct Entry {
    NodeRun first;  // its kernel refers to `kernel`
    std::string kernel;
    uint64_t launches = 0;
    uint64_t total_ns = 0;
  };
  std::map<uint64_t, Entry> nodes_;  // by tools id
  uint64_t runs_ = 0;
};

}  // namespace graphkit
