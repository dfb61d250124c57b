// Instantiated graphs, and their launches: the work of each node of an exec, which is that of the
// graph's node when the exec was made, with the parameters set, switched and updated since.
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/cupti_tracer/calls/records.h"
#include "plugins/cupti_tracer/ground/handle_map.h"
#include "plugins/cupti_tracer/recorder/graphs.h"

namespace graphkit {

struct ExecInfo {
  struct Node {
    uint64_t handle = 0;
    NodeId source;  // of the graph that it was instantiated from
    NodeInfo now;   // the node that it is like: the source, or that of an update
  };
  struct Graph {
    uint64_t handle = 0;
    GraphId source;
    NodeId parent;  // of the source
  };
  ExecId id;
  GraphId graph;
  std::vector<Node> nodes;     // by source
  std::vector<Graph> graphs;   // by handle
  PartialEdges edge_data;      // of all of them
  bool unseen_update = false;  // it isn't known what it changed
  bool copies_stack = false;   // a node of it does, or did
  uint32_t stack_tops = 0;     // launches of which it was told how far the stack reached
  bool launched = false;
  std::vector<uint32_t> host_reads;  // numbers in HostContent: the first ones, each once

  void AddHostRead(uint32_t number);
  Node* Find(NodeId source);
  const Graph* FindGraph(uint64_t handle) const;
  // True if its copy of the graph in this child graph node isn't empty.
  bool HasNodesInside(NodeId holder) const;
  // Places in `nodes`, by handle.
  HandleMap<uint32_t> Places() const;
  // Nodes take the parameters of the graph's, paired in the order in which they were made. CUPTI
  // doesn't tell of it (of CUDA 13.0: of host nodes only). What an update changes in graphs inside
  // nodes isn't known. True: all nodes had the parameters before.
  bool Update(const GraphInfo& from, const Graphs& of);
};

class Execs {
 public:
  explicit Execs(Records& records) : records_(records) {}

  ExecInfo* Find(uint64_t handle) { return execs_.Find(handle); }
  // `made`: its nodes, as CUPTI told of them.
  void Instantiate(const Call& call, const GraphInfo& graph, const std::vector<ExecNode>& made,
                   const Graphs& graphs);
  void WriteUpdate(const Call& call, const ExecUpdate& update);
  // True if there are execs of the node's graph, and all have these parameters of the node already.
  bool HaveAlready(const NodeInfo& node, uint64_t fingerprint) const;
  // `row`: but for the exec.
  void Launch(ExecInfo& exec, graphkit::Launch row, uint64_t time);
  bool IsUnlaunched(uint64_t handle) {
    const ExecInfo* exec = Find(handle);
    return exec != nullptr && !exec->launched;
  }
  // The memory that the call took, where it was measured.
  void WriteReading(const Call& call, const ExecInfo& exec, ExecCall what);
  void End(uint64_t handle, uint64_t time, Source source);

  size_t size() const { return execs_.size(); }

 private:
  Records& records_;
  HandleMap<ExecInfo> execs_;
  uint32_t next_ = 0;
};

}  // namespace graphkit
