// The numbers by which CUPTI, and what stands on it (Kineto, Nsight Systems), know the nodes of
// graphs: tools id of the graph << 32 | number of the node in it.
//
//     graph 3, captured     nodes  3<<32|0  3<<32|1  3<<32|2
//     exec 4 of it          nodes  4<<32|0  4<<32|1  4<<32|2    an exec holds a copy of its graph;
//                                                               what ran goes by these
//
// An exec's ids are in a trace where its tracer asked for them. Else they follow from the order in
// which nodes are made, and so do those of the graph itself.
#pragma once

#include <vector>

#include "libgraphkit/model/trace.h"

namespace graphkit {

// Adds a node to the runs: to the last one where it goes on.
inline void AppendToolId(std::vector<ToolIdRun>& runs, NodeId node, uint64_t tool_id) {
  if (!runs.empty()) {
    ToolIdRun& last = runs.back();
    if (node.value == last.first.value + last.count && tool_id == last.tool_id + last.count) {
      ++last.count;
      return;
    }
  }
  runs.push_back({node, 1, tool_id});
}

// By node: what it is called in the graph that it was made in; 0: unknown.
std::vector<uint64_t> OwnToolIds(const Trace& trace);

// The tools ids of an exec's nodes.
class ExecToolIds {
 public:
  explicit ExecToolIds(const Trace& trace);

  std::vector<ToolIdRun> Of(ExecId exec) const;

 private:
  const Trace& trace_;
  std::vector<std::vector<NodeId>> nodes_;  // by graph; of those whose execs have no ids recorded
};

}  // namespace graphkit
