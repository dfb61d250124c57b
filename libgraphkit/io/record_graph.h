// The records of graphs, nodes, edges, execs and launches. How to read this: record_process.h.
#pragma once

#include <array>

#include "libgraphkit/io/record_names.h"
#include "libgraphkit/io/record_process.h"
#include "libgraphkit/model/graph.h"
#include "libgraphkit/model/memory.h"

namespace graphkit {

struct GraphRecord : RecordBase {
  static constexpr std::string_view kType = "graph";
  GraphId id;
  GraphOrigin origin = GraphOrigin::kExplicit;
  GraphId original;
  NodeId parent;
  uint32_t body = 0;
  uint64_t handle = 0;
  uint64_t tool_id = 0;
  std::string_view name;
};

template <typename Visitor>
void VisitFields(Visitor& v, GraphRecord& r) {
  v.Required("id", r.id);
  v.Required("origin", r.origin);
  v.Optional("original", r.original);
  v.Optional("parent", r.parent);
  v.Optional("body", r.body);
  v.Hex("handle", r.handle);
  v.Optional("tool_id", r.tool_id);
  v.Optional("name", r.name);
}

struct GraphDestroyedRecord : RecordBase {
  static constexpr std::string_view kType = "graph_destroyed";
  GraphId graph;
};

template <typename Visitor>
void VisitFields(Visitor& v, GraphDestroyedRecord& r) {
  v.Required("graph", r.graph);
}

using Dimensions = std::array<uint32_t, 3>;

struct NodeRecord : RecordBase {
  static constexpr std::string_view kType = "node";
  NodeId id;
  GraphId graph;
  NodeKind kind = NodeKind::kUnknown;
  ConditionalType conditional = ConditionalType::kUnknown;
  bool has_conditional = false;
  bool complete = false;
  StreamId stream;
  ThreadId thread;
  StackId stack;
  uint32_t duration_ns = 0;
  KernelId kernel;
  Dimensions grid = {1, 1, 1};
  Dimensions block = {1, 1, 1};
  uint32_t shared = 0;
  GraphId child;
  EventId event;
  BlockId memory;
  std::span<const GraphId> bodies;
  std::span<const Access> access;
};

template <typename Visitor>
void VisitFields(Visitor& v, NodeRecord& r) {
  v.Required("id", r.id);
  v.Required("graph", r.graph);
  v.Required("kind", r.kind);
  v.Optional("stream", r.stream);
  v.Optional("thread", r.thread);
  v.Optional("stack", r.stack);
  v.Optional("duration_ns", r.duration_ns);
  v.Optional("kernel", r.kernel);
  v.Optional("grid", r.grid, Dimensions{1, 1, 1});
  v.Optional("block", r.block, Dimensions{1, 1, 1});
  v.Optional("shared", r.shared);
  v.Optional("child", r.child);
  v.Optional("event", r.event);
  v.Optional("memory", r.memory);
  v.Present("conditional", r.has_conditional, r.conditional);
  v.Optional("bodies", r.bodies);
  v.Optional("access", r.access);
  v.Optional("complete", r.complete);
}

struct NodeSetRecord : RecordBase {
  static constexpr std::string_view kType = "node_set";
  NodeId node;
  ExecId exec;
  NodeChangeKind what = NodeChangeKind::kParams;
  KernelId kernel;
  Dimensions grid = {1, 1, 1};
  Dimensions block = {1, 1, 1};
  uint32_t shared = 0;
  GraphId child;
  EventId event;
  std::span<const Access> access;
  bool complete = false;
};

template <typename Visitor>
void VisitFields(Visitor& v, NodeSetRecord& r) {
  v.Required("node", r.node);
  v.Optional("exec", r.exec);
  v.Required("what", r.what);
  v.Optional("kernel", r.kernel);
  v.Optional("grid", r.grid, Dimensions{1, 1, 1});
  v.Optional("block", r.block, Dimensions{1, 1, 1});
  v.Optional("shared", r.shared);
  v.Optional("child", r.child);
  v.Optional("event", r.event);
  v.Optional("access", r.access);
  v.Optional("complete", r.complete);
}

struct NodeDestroyedRecord : RecordBase {
  static constexpr std::string_view kType = "node_destroyed";
  NodeId node;
};

template <typename Visitor>
void VisitFields(Visitor& v, NodeDestroyedRecord& r) {
  v.Required("node", r.node);
}

struct EdgeRecord : RecordBase {
  static constexpr std::string_view kType = "edge";
  EdgeId id;
  NodeId from;
  NodeId to;
  uint8_t from_port = 0;
  uint8_t to_port = 0;
  EdgeType edge_type = EdgeType::kDefault;
};

template <typename Visitor>
void VisitFields(Visitor& v, EdgeRecord& r) {
  v.Required("id", r.id);
  v.Required("from", r.from);
  v.Required("to", r.to);
  v.Optional("from_port", r.from_port);
  v.Optional("to_port", r.to_port);
  v.Optional("edge_type", r.edge_type);
}

struct EdgeRemovedRecord : RecordBase {
  static constexpr std::string_view kType = "edge_removed";
  EdgeId edge;
};

template <typename Visitor>
void VisitFields(Visitor& v, EdgeRemovedRecord& r) {
  v.Required("edge", r.edge);
}

struct ExecRecord : RecordBase {
  static constexpr std::string_view kType = "exec";
  ExecId id;
  GraphId graph;
  uint64_t handle = 0;
  uint64_t flags = 0;
  uint64_t tool_id = 0;
  std::span<const ToolIdRun> node_ids;
  StackId stack;
};

template <typename Visitor>
void VisitFields(Visitor& v, ExecRecord& r) {
  v.Required("id", r.id);
  v.Required("graph", r.graph);
  v.AlwaysHex("handle", r.handle);
  v.Optional("flags", r.flags);
  v.Optional("tool_id", r.tool_id);
  v.Optional("node_ids", r.node_ids);
  v.Optional("stack", r.stack);
}

struct ExecDestroyedRecord : RecordBase {
  static constexpr std::string_view kType = "exec_destroyed";
  ExecId exec;
};

template <typename Visitor>
void VisitFields(Visitor& v, ExecDestroyedRecord& r) {
  v.Required("exec", r.exec);
}

struct ExecUpdatedRecord : RecordBase {
  static constexpr std::string_view kType = "exec_updated";
  ExecId exec;
  GraphId graph;
  int32_t result = 0;
};

template <typename Visitor>
void VisitFields(Visitor& v, ExecUpdatedRecord& r) {
  v.Required("exec", r.exec);
  v.Required("graph", r.graph);
  v.Optional("result", r.result);
}

struct WorkRecord : RecordBase {
  static constexpr std::string_view kType = "work";
  NodeKind kind = NodeKind::kUnknown;
  StreamId stream;
  ThreadId thread;
  StackId stack;
  KernelId kernel;
  Dimensions grid = {1, 1, 1};
  Dimensions block = {1, 1, 1};
  uint32_t shared = 0;
  std::span<const Access> access;
  bool complete = false;
};

template <typename Visitor>
void VisitFields(Visitor& v, WorkRecord& r) {
  v.Optional("stream", r.stream);
  v.Optional("thread", r.thread);
  v.Optional("stack", r.stack);
  v.Required("kind", r.kind);
  v.Optional("kernel", r.kernel);
  v.Optional("grid", r.grid, Dimensions{1, 1, 1});
  v.Optional("block", r.block, Dimensions{1, 1, 1});
  v.Optional("shared", r.shared);
  v.Optional("access", r.access);
  v.Optional("complete", r.complete);
}

struct LaunchRecord : RecordBase {
  static constexpr std::string_view kType = "launch";
  ExecId exec;
  StreamId stream;
  uint32_t correlation = 0;
};

template <typename Visitor>
void VisitFields(Visitor& v, LaunchRecord& r) {
  v.Required("exec", r.exec);
  v.Optional("stream", r.stream);
  v.Optional("correlation", r.correlation);
}

}  // namespace graphkit
