#include <algorithm>
#include <map>
#include <utility>

#include "tests/analysis/slow_facts.h"

namespace graphkit {
namespace {

bool MayMeet(const Access& a, const Access& b) {
  const auto ends_before = [](const Access& x, const Access& y) {
    return x.length != kLengthUnknown && x.offset + x.length <= y.offset;
  };
  return !ends_before(a, b) && !ends_before(b, a);
}

// Whether one launch runs both: they lie in one user's graph, not in two bodies of a conditional.
bool OfOneRun(const Trace& trace, NodeId a, NodeId b) {
  if (RootOf(trace, trace[a].graph) != RootOf(trace, trace[b].graph)) return false;
  for (GraphId x = trace[a].graph; trace[x].parent.valid(); x = trace[trace[x].parent].graph) {
    for (GraphId y = trace[b].graph; trace[y].parent.valid(); y = trace[trace[y].parent].graph) {
      if (x != y && trace[x].parent == trace[y].parent) return false;
    }
  }
  return true;
}

bool Waits(const Trace& trace, NodeId node) { return WaitsFor(trace, node) == Ternary::kYes; }

// Nodes and nanoseconds of the longest paths.
struct Length {
  uint64_t nodes = 0;
  uint64_t ns = 0;
  void Raise(const Length& other) {
    nodes = std::max(nodes, other.nodes);
    ns = std::max(ns, other.ns);
  }
};

class Paths {
 public:
  explicit Paths(const Trace& trace) : trace_(trace) {}

  // Up to a node, without it, and with it.
  Length Before(NodeId node) {
    Length before;
    for (const Edge& edge : trace_.edges) {
      if (edge.to == node && Joins(trace_, edge)) before.Raise(Through(edge.from));
    }
    return before;
  }

  Length Through(NodeId node) {
    if (const auto known = through_.find(node); known != through_.end()) return known->second;
    Length inside{.nodes = 1, .ns = trace_[node].duration_ns};
    for (size_t graph = 0; graph < trace_.graphs.size(); ++graph) {
      if (trace_.graphs[graph].parent == node) inside.Raise(Inside(GraphId(graph)));
    }
    const Length before = Before(node);
    return through_[node] = {before.nodes + inside.nodes, before.ns + inside.ns};
  }

  Length Inside(GraphId graph) {
    Length longest;
    for (size_t i = 0; i < trace_.nodes.size(); ++i) {
      if (trace_.nodes[i].graph != graph || !InGraph(trace_, trace_.nodes[i])) continue;
      longest.Raise(Through(NodeId(i)));
    }
    return longest;
  }

 private:
  const Trace& trace_;
  std::map<NodeId, Length> through_;
};

}  // namespace

std::set<BlockId> SlowRaces(const Trace& trace, const SlowOrder& order) {
  const auto ordered = [&](NodeId a, NodeId b) {
    return order.Before(a, b) || (Waits(trace, b) && order.EndsBefore(a, b));
  };
  struct Use {
    NodeId node;
    Access access;
  };
  std::vector<Use> uses;
  for (size_t i = 0; i < trace.nodes.size(); ++i) {
    const Node& node = trace.nodes[i];
    if (!InGraph(trace, node)) continue;
    const bool memory = node.kind == NodeKind::kMemAlloc || node.kind == NodeKind::kMemFree;
    if (memory) uses.push_back({NodeId(i), {.block = node.block, .mode = AccessMode::kWrite}});
    for (uint32_t a = 0; a < node.accesses.count && !memory; ++a) {
      uses.push_back({NodeId(i), trace.accesses[node.accesses.first + a]});
    }
  }
  std::set<BlockId> racing;
  for (const Use& a : uses) {
    for (const Use& b : uses) {
      if (!(a.node < b.node) || a.access.block != b.access.block) continue;
      const bool reads = a.access.mode == AccessMode::kRead && b.access.mode == AccessMode::kRead;
      if (reads || !MayMeet(a.access, b.access) || !OfOneRun(trace, a.node, b.node)) continue;
      if (!ordered(a.node, b.node) && !ordered(b.node, a.node)) racing.insert(a.access.block);
    }
  }
  return racing;
}

Shape SlowShape(const Trace& trace, GraphId graph) {
  Paths paths(trace);
  const Length longest = paths.Inside(graph);
  Shape shape{.critical_path_nodes = longest.nodes, .critical_path_ns = longest.ns, .width = 0};
  std::map<uint64_t, uint64_t> at_distance;
  for (size_t i = 0; i < trace.nodes.size(); ++i) {
    if (trace.nodes[i].graph != graph || !InGraph(trace, trace.nodes[i])) continue;
    shape.width = std::max(shape.width, ++at_distance[paths.Before(NodeId(i)).nodes]);
  }
  return shape;
}

std::vector<EdgeId> SlowRedundantEdges(const Trace& trace, const SlowOrder& order) {
  std::vector<EdgeId> redundant;
  for (size_t i = 0; i < trace.edges.size(); ++i) {
    const Edge& edge = trace.edges[i];
    if (Joins(trace, edge) && edge.full() && order.BeforeWithoutEdge(edge.from, edge.to)) {
      redundant.emplace_back(i);
    }
  }
  return redundant;
}

}  // namespace graphkit
