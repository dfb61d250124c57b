#include <algorithm>

#include "libgraphkit/io/trace_assembler.h"

namespace graphkit {

size_t TraceAssembler::ShapeHash::operator()(const LaunchShape& shape) const {
  uint64_t hash = shape.shared_bytes;
  for (int i = 0; i < 3; ++i) {
    hash = (hash ^ shape.grid[i]) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ shape.block[i]) * 0x9e3779b97f4a7c15u;
  }
  return static_cast<size_t>(hash ^ hash >> 32);
}

// Makes `graph` the child of `parent`, or the body `body` of it. Both the graph and the node may
// say so; they must agree.
bool TraceAssembler::Adopt(GraphId id, NodeId parent, uint32_t body) {
  Graph& graph = trace_.graphs[id.index()];
  if (graph.parent && (graph.parent != parent || graph.body != body)) {
    return Fail("puts graph " + std::to_string(id.value) + " into node " +
                    std::to_string(parent.value) + ", but it is in node " +
                    std::to_string(graph.parent.value),
                "the file is damaged, or what wrote it is wrong");
  }
  graph.parent = parent;
  graph.body = body;
  return true;
}

bool TraceAssembler::Apply(const GraphRecord& r) {
  if (!IsNext(r.id, trace_.graphs.size(), "graphs")) return false;
  if (!Refers("original", r.original, trace_.graphs.size(), "graphs")) return false;
  if (!Refers("parent", r.parent, trace_.nodes.size(), "nodes")) return false;
  Graph graph;
  graph.origin = r.origin;
  graph.original = r.original;
  graph.parent = r.parent;
  graph.body = r.body;
  graph.created = place();
  graph.handle = r.handle;
  graph.tool_id = r.tool_id;
  graph.name = Intern(r.name);
  trace_.graphs.push_back(graph);
  const auto expected = expected_graphs_.find(r.id);
  if (expected == expected_graphs_.end()) return true;
  const Expected holder = expected->second;
  expected_graphs_.erase(expected);
  return Adopt(r.id, holder.parent, holder.body);
}

bool TraceAssembler::Apply(const GraphDestroyedRecord& r) {
  if (!RefersToGraph(r.graph)) return false;
  End(trace_.graphs[r.graph.index()].destroyed);
  return true;
}

bool TraceAssembler::AddAccesses(std::span<const Access> accesses, Slice& slice) {
  for (const Access& access : accesses) {
    if (!Refers("access to block", access.block, trace_.blocks.size(), "blocks")) return false;
  }
  return AddSlice(accesses, trace_.accesses, slice);
}

template <typename Record>
uint32_t TraceAssembler::InternShape(const Record& r) {
  LaunchShape shape;
  std::ranges::copy(r.grid, shape.grid);
  std::ranges::copy(r.block, shape.block);
  shape.shared_bytes = r.shared;
  if (last_shape_ < trace_.shapes.size() && trace_.shapes[last_shape_] == shape) {
    return last_shape_;
  }
  const auto next = static_cast<uint32_t>(trace_.shapes.size());
  const auto [found, inserted] = shapes_.emplace(shape, next);
  if (inserted) trace_.shapes.push_back(shape);
  return last_shape_ = found->second;
}

bool TraceAssembler::LinkBodies(const NodeRecord& r) {
  const auto link = [&](GraphId graph, uint32_t body) {
    if (graph.index() < trace_.graphs.size()) return Adopt(graph, r.id, body);
    const auto [other, inserted] = expected_graphs_.emplace(graph, Expected{r.id, body, place()});
    if (inserted) return true;
    return Fail("holds graph " + std::to_string(graph.value) + ", but so does node " +
                std::to_string(other->second.parent.value));
  };
  if (r.child && !link(r.child, 0)) return false;
  for (size_t i = 0; i < r.bodies.size(); ++i) {
    if (!link(r.bodies[i], static_cast<uint32_t>(i))) return false;
  }
  return true;
}

// Memory nodes: the block knows the node that allocated it, and the first that frees it.
bool TraceAssembler::TakeBlock(const NodeRecord& r) {
  if (!RefersToBlock(r.memory)) return false;
  if (!r.memory) return true;
  Block& block = trace_.blocks[r.memory.index()];
  if (r.kind == NodeKind::kMemAlloc && !block.alloc_node) block.alloc_node = r.id;
  if (r.kind != NodeKind::kMemFree || block.freed()) return true;
  block.free_node = r.id;
  block.free_stream = r.stream;
  block.free_stack = r.stack;
  block.free_requested = block.free_completed = place();
  return true;
}

bool TraceAssembler::Apply(const NodeRecord& r) {
  if (!IsNext(r.id, trace_.nodes.size(), "nodes")) return false;
  if (!RefersToGraph(r.graph) || !RefersToStream(r.stream) || !RefersToThread(r.thread) ||
      !RefersToStack(r.stack) || !RefersToEvent(r.event) ||
      !Refers("kernel", r.kernel, trace_.kernels.size(), "kernels")) {
    return false;
  }
  Node node;
  if (!TakeBlock(r) || !AddAccesses(r.access, node.accesses)) return false;
  node.graph = r.graph;
  node.stream = r.stream;
  node.thread = r.thread;
  node.seq = place();
  node.kind = r.kind;
  node.source = r.source;
  node.conditional = r.conditional;
  node.accesses_complete = r.complete;
  node.kernel = r.kernel;
  if (r.kind == NodeKind::kKernel) node.shape = InternShape(r);
  node.block = r.memory;
  node.event = r.event;
  node.stack = r.stack;
  node.duration_ns = r.duration_ns;
  trace_.nodes.push_back(node);
  return LinkBodies(r);
}

bool TraceAssembler::Apply(const NodeSetRecord& r) {
  if (!Refers("node", r.node, trace_.nodes.size(), "nodes") || !RefersToExec(r.exec) ||
      !RefersToEvent(r.event) || !Refers("kernel", r.kernel, trace_.kernels.size(), "kernels") ||
      !Refers("child", r.child, trace_.graphs.size(), "graphs")) {
    return false;
  }
  NodeChange change;
  if (!AddAccesses(r.access, change.accesses)) return false;
  change.node = r.node;
  change.exec = r.exec;
  change.what = r.what;
  change.accesses_complete = r.complete;
  change.kernel = r.kernel;
  bool kernel = trace_[r.node].kind == NodeKind::kKernel;
  if (kernel && r.what == NodeChangeKind::kParams) change.shape = InternShape(r);
  change.event = r.event;
  change.child = r.child;
  change.seq = place();
  trace_.node_changes.push_back(change);
  return true;
}

bool TraceAssembler::Apply(const NodeDestroyedRecord& r) {
  if (!Refers("node", r.node, trace_.nodes.size(), "nodes")) return false;
  End(trace_.nodes[r.node.index()].destroyed);
  return true;
}

bool TraceAssembler::Apply(const EdgeRecord& r) {
  if (!IsNext(r.id, trace_.edges.size(), "edges")) return false;
  if (!Refers("from", r.from, trace_.nodes.size(), "nodes")) return false;
  if (!Refers("to", r.to, trace_.nodes.size(), "nodes")) return false;
  const GraphId graph = trace_[r.from].graph;
  if (graph != trace_[r.to].graph) {
    return Fail("goes from graph " + std::to_string(graph.value) + " to graph " +
                    std::to_string(trace_[r.to].graph.value),
                "an edge stays in one graph");
  }
  Edge edge;
  edge.from = r.from;
  edge.to = r.to;
  edge.from_port = r.from_port;
  edge.to_port = r.to_port;
  edge.type = r.edge_type;
  edge.source = r.source;
  edge.seq = place();
  trace_.edges.push_back(edge);
  return true;
}

bool TraceAssembler::Apply(const EdgeRemovedRecord& r) {
  if (!Refers("edge", r.edge, trace_.edges.size(), "edges")) return false;
  End(trace_.edges[r.edge.index()].removed);
  return true;
}

bool TraceAssembler::AddToolIds(std::span<const ToolIdRun> runs, Slice& slice) {
  for (const ToolIdRun& run : runs) {
    const size_t nodes = trace_.nodes.size();
    if (!Refers("node_ids", run.first, nodes, "nodes")) return false;
    if (run.count == 0 || run.count > nodes - run.first.index()) {
      return Fail("names " + std::to_string(run.count) + " nodes from node " +
                  std::to_string(run.first.value) + " on, but only " + std::to_string(nodes) +
                  " nodes were declared");
    }
  }
  return AddSlice(runs, trace_.tool_id_runs, slice);
}

bool TraceAssembler::Apply(const ExecRecord& r) {
  if (!IsNext(r.id, trace_.execs.size(), "execs")) return false;
  if (!RefersToGraph(r.graph) || !RefersToStack(r.stack)) return false;
  Exec exec;
  if (!AddToolIds(r.node_ids, exec.node_ids)) return false;
  exec.graph = r.graph;
  exec.handle = r.handle;
  exec.flags = r.flags;
  exec.tool_id = r.tool_id;
  exec.created = place();
  exec.stack = r.stack;
  trace_.execs.push_back(exec);
  return true;
}

bool TraceAssembler::Apply(const ExecDestroyedRecord& r) {
  if (!RefersToExec(r.exec)) return false;
  End(trace_.execs[r.exec.index()].destroyed);
  return true;
}

bool TraceAssembler::Apply(const ExecUpdatedRecord& r) {
  if (!RefersToExec(r.exec) || !RefersToGraph(r.graph)) return false;
  trace_.exec_updates.push_back({r.exec, r.graph, r.result, place()});
  return true;
}

bool TraceAssembler::Apply(const LaunchRecord& r) {
  if (!RefersToExec(r.exec) || !RefersToStream(r.stream)) return false;
  trace_.launches.push_back({r.exec, r.stream, place(), r.correlation});
  return true;
}

bool TraceAssembler::Apply(const WorkRecord& r) {
  if (!RefersToStream(r.stream) || !RefersToThread(r.thread) || !RefersToStack(r.stack) ||
      !Refers("kernel", r.kernel, trace_.kernels.size(), "kernels")) {
    return false;
  }
  EagerWork work;
  if (!AddAccesses(r.access, work.accesses)) return false;
  work.stream = r.stream;
  work.thread = r.thread;
  work.kind = r.kind;
  work.accesses_complete = r.complete;
  work.kernel = r.kernel;
  if (r.kind == NodeKind::kKernel) work.shape = InternShape(r);
  work.stack = r.stack;
  work.seq = place();
  trace_.works.push_back(work);
  return true;
}

}  // namespace graphkit
