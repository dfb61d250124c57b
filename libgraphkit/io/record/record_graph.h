// The records of graphs, nodes, edges, execs and launches. How to read this: record.h.
#pragma once

#include "libgraphkit/io/record/record.h"

namespace graphkit {

struct GraphRecord : DeclaredRecord<"graph", GraphId, &Graph::created> {
  void Fields(auto& v) {
    v.Required("id", id);
    v.Required("origin", row.origin);
    v.Optional("original", row.original);
    v.Optional("parent", row.parent);
    v.Optional("body", row.body);
    v.Optional("handle", Hex{row.handle});
    v.Optional("tool_id", row.tool_id);
    v.Optional("name", row.name);
  }
};

struct GraphDestroyedRecord : EndingRecord<"graph_destroyed", GraphId, &Graph::destroyed> {};

// The grid, the blocks and the shared memory of a kernel.
void ShapeFields(auto& v, LaunchShape& shape) {
  v.Optional("grid", Extents{shape.grid});
  v.Optional("block", Extents{shape.block});
  v.Optional("shared", shape.shared_bytes);
}

struct CommunicatorRecord : DeclaredRecord<"communicator", CommunicatorId, &Communicator::created> {
  void Fields(auto& v) {
    v.Required("id", id);
    v.Optional("key", Hex{row.key});
    v.Required("ranks", row.ranks);
    v.Required("rank", row.rank);
  }
};

struct CommunicatorDestroyedRecord
    : EndingRecord<"communicator_destroyed", CommunicatorId, &Communicator::destroyed> {};

struct NodeRecord : DeclaredRecord<"node", NodeId, &Node::seq> {
  LaunchShape shape;
  Slice collectives;  // those at the row's place
  Slice host_ends;    // likewise
  Slice labels;       // likewise
  Slice scalars;      // likewise
  GraphId child;
  std::span<const GraphId> bodies;
  void Fields(auto& v) {
    v.Required("id", id);
    v.Required("graph", row.graph);
    v.Required("kind", row.kind);
    v.Optional("stream", row.stream);
    v.Optional("thread", row.thread);
    v.Optional("stack", row.stack);
    v.Optional("duration_ns", row.duration_ns);
    v.Optional("kernel", row.kernel);
    ShapeFields(v, shape);
    v.Optional("child", Later{child});
    v.Optional("event", row.event);
    v.Optional("memory", row.block);
    v.Optional("conditional", row.conditional, ConditionalType::kUnknown);
    v.Optional("bodies", bodies);
    v.Optional("access", Listed(row.accesses, &Trace::accesses));
    v.Optional("complete", row.accesses_complete);
    v.Optional("collectives", Listed(collectives, &Trace::collectives));
    v.Optional("host", Listed(host_ends, &Trace::host_ends));
    v.Optional("labels", Listed(labels, &Trace::node_labels));
    v.Optional("scalars", Listed(scalars, &Trace::scalars));
  }
};

struct NodeSetRecord : RowRecord<"node_set", &Trace::node_changes, &NodeChange::seq> {
  LaunchShape shape;
  Slice host_ends;  // those at the row's place
  Slice scalars;    // likewise
  void Fields(auto& v) {
    v.Required("node", row.node);
    v.Optional("exec", row.exec);
    v.Required("what", row.what);
    v.Optional("kernel", row.kernel);
    ShapeFields(v, shape);
    v.Optional("child", row.child);
    v.Optional("event", row.event);
    v.Optional("access", Listed(row.accesses, &Trace::accesses));
    v.Optional("complete", row.accesses_complete);
    v.Optional("host", Listed(host_ends, &Trace::host_ends));
    v.Optional("scalars", Listed(scalars, &Trace::scalars));
    v.Optional("same", row.same);
    v.Optional("back", row.back);
  }
};

struct NodeDestroyedRecord : EndingRecord<"node_destroyed", NodeId, &Node::destroyed> {};

struct EdgeRecord : DeclaredRecord<"edge", EdgeId, &Edge::seq> {
  void Fields(auto& v) {
    v.Required("id", id);
    v.Required("from", row.from);
    v.Required("to", row.to);
    v.Optional("from_port", row.from_port);
    v.Optional("to_port", row.to_port);
    v.Optional("edge_type", row.type);
  }
};

struct EdgeRemovedRecord : EndingRecord<"edge_removed", EdgeId, &Edge::removed> {};

struct ExecRecord : DeclaredRecord<"exec", ExecId, &Exec::created> {
  void Fields(auto& v) {
    v.Required("id", id);
    v.Required("graph", row.graph);
    v.Always("handle", Hex{row.handle});
    v.Optional("flags", row.flags);
    v.Optional("tool_id", row.tool_id);
    v.Optional("node_ids", Listed(row.node_ids, &Trace::tool_id_runs));
    v.Optional("stack", row.stack);
  }
};

struct ExecDestroyedRecord : EndingRecord<"exec_destroyed", ExecId, &Exec::destroyed> {};

struct ExecUpdatedRecord : RowRecord<"exec_updated", &Trace::exec_updates, &ExecUpdate::seq> {
  void Fields(auto& v) {
    v.Required("exec", row.exec);
    v.Required("graph", row.graph);
    v.Optional("result", row.result);
    v.Optional("node", row.node);
    v.Optional("from", row.from);
    v.Optional("same", row.same);
  }
};

struct ExecMemoryRecord : RowRecord<"exec_memory", &Trace::exec_readings, &ExecReading::seq> {
  void Fields(auto& v) {
    v.Required("exec", row.exec);
    v.Required("call", row.call);
    v.Required("before", row.before);
    v.Required("after", row.after);
    v.Optional("disturbed", row.disturbed);
  }
};

struct WorkRecord : RowRecord<"work", &Trace::works, &EagerWork::seq> {
  LaunchShape shape;
  Slice collectives;  // those at the row's place
  void Fields(auto& v) {
    v.Optional("stream", row.stream);
    v.Optional("thread", row.thread);
    v.Optional("stack", row.stack);
    v.Required("kind", row.kind);
    v.Optional("kernel", row.kernel);
    ShapeFields(v, shape);
    v.Optional("access", Listed(row.accesses, &Trace::accesses));
    v.Optional("complete", row.accesses_complete);
    v.Optional("collectives", Listed(collectives, &Trace::collectives));
  }
};

struct StackTopRecord : RowRecord<"stack_top", &Trace::stack_tops, &StackTop::seq> {
  void Fields(auto& v) {
    v.Required("thread", row.thread);
    v.Required("address", Hex{row.address});
  }
};

struct EagerCountRecord : RowRecord<"eager", &Trace::eager_counts, &EagerCount::seq> {
  void Fields(auto& v) {
    v.Optional("stream", row.stream);
    v.Optional("thread", row.thread);
    v.Optional("kernels", row.kernels);
    v.Optional("copies", row.copies);
    v.Optional("copied_bytes", row.copied_bytes);
    v.Optional("others", row.others);
  }
};

struct EagerSiteRecord : RowRecord<"eager_site", &Trace::eager_sites, &EagerSite::seq> {
  Slice scalars;  // those at the row's place
  void Fields(auto& v) {
    v.Required("kernel", row.kernel);
    v.Optional("stack", row.stack);
    v.Optional("thread", row.thread);
    v.Required("launches", row.launches);
    v.Optional("first", row.first);
    v.Optional("last", row.last);
    v.Optional("scalars", Listed(scalars, &Trace::scalars));
  }
};

struct LaunchRecord : RowRecord<"launch", &Trace::launches, &Launch::seq> {
  void Fields(auto& v) {
    v.Required("exec", row.exec);
    v.Optional("stream", row.stream);
    v.Optional("thread", row.thread);
    v.Optional("stack", row.stack);
    v.Optional("correlation", row.correlation);
  }
};

}  // namespace graphkit
