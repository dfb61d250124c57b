#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "libgraphkit/analysis/names/naming.h"
#include "libgraphkit/ran/resolve.h"
#include "tests/analysis/slow_facts.h"

namespace graphkit {
namespace {

bool MayMeet(const Access& a, const Access& b) {
  const auto ends_before = [](const Access& x, const Access& y) {
    return x.length != kLengthUnknown && x.offset + x.length <= y.offset;
  };
  return !ends_before(a, b) && !ends_before(b, a);
}

// True if one launch runs both: they lie in one user's graph, not in two bodies of a conditional.
bool OfOneRun(const Ran& trace, NodeId a, NodeId b) {
  if (RootOf(trace, trace[a].graph) != RootOf(trace, trace[b].graph)) return false;
  for (GraphId x = trace[a].graph; trace[x].parent.valid(); x = trace[trace[x].parent].graph) {
    for (GraphId y = trace[b].graph; trace[y].parent.valid(); y = trace[trace[y].parent].graph) {
      if (x != y && trace[x].parent == trace[y].parent) return false;
    }
  }
  return true;
}

// True if one ends before the other starts, or before it goes on after having waited. `waits`: a
// node's behaviour on its grid dependencies that counts as waiting.
bool Ordered(const Ran& trace, const SlowOrder& order, NodeId a, NodeId b,
             const std::set<Ternary>& waits) {
  const auto before = [&](NodeId from, NodeId to) {
    return order.Before(from, to) ||
           (waits.contains(WaitsFor(trace, to)) && order.EndsBefore(from, to));
  };
  return before(a, b) || before(b, a);
}

// True if edges into a node, or out of it, may have been recorded after the trace was cut off.
bool MayLackEdges(const Ran& trace, NodeId node) {
  if (!trace.completeness.truncated) return false;
  const GraphId graph = trace[node].graph;
  const auto of_graph = [&](const Exec& exec) { return exec.graph == RootOf(trace, graph); };
  const bool goes_on =
      trace[graph].origin != GraphOrigin::kCapture && std::ranges::none_of(trace.execs, of_graph);
  return goes_on || node.index() + 1 == trace.nodes.size();
}

struct Use {
  NodeId node;
  RaceKind kind = RaceKind::kAccess;
  Access access;
};

// All accesses, and the memory nodes of blocks that some node touches.
std::vector<Use> AllUses(const Ran& trace) {
  std::vector<Use> uses;
  std::set<BlockId> touched;
  for (size_t i = 0; i < trace.nodes.size(); ++i) {
    const Node& node = trace.nodes[i];
    if (!trace.graph_nodes.Has(NodeId(i)) || MayLackEdges(trace, NodeId(i))) continue;
    for (uint32_t a = 0; a < node.accesses.count; ++a) {
      uses.push_back({NodeId(i), RaceKind::kAccess, trace.accesses[node.accesses.first + a]});
      touched.insert(uses.back().access.block);
    }
  }
  for (const BlockId id : touched) {
    const Block& block = trace[id];
    const Access all{.block = id, .mode = AccessMode::kWrite, .length = block.size};
    for (const auto& [node, kind] : {std::pair(block.alloc_node, RaceKind::kAlloc),
                                     std::pair(block.free_node, RaceKind::kFree)}) {
      if (!node.valid() || !trace.graph_nodes.Has(node) || MayLackEdges(trace, node)) continue;
      uses.push_back({node, kind, all});
    }
  }
  return uses;
}

// Certain: both ranges are known, and one surely writes. Unknown: nobody says who reads or writes.
Overlapping HowSure(const Access& a, const Access& b) {
  const auto writes = [](const Access& x) {
    return x.mode == AccessMode::kWrite || x.mode == AccessMode::kReadWrite;
  };
  const bool ranges = a.length != kLengthUnknown && b.length != kLengthUnknown;
  if (ranges && (writes(a) || writes(b))) return Overlapping::kCertain;
  const bool silent = a.mode == AccessMode::kUnknown && b.mode == AccessMode::kUnknown;
  return silent ? Overlapping::kUnknown : Overlapping::kLikely;
}

// It writes, or is a kernel that takes a pointer to non-const there.
bool MayWrite(const Ran& trace, const Use& use) {
  const AccessMode mode = use.access.mode;
  if (mode != AccessMode::kUnknown) return mode != AccessMode::kRead;
  const KernelId kernel = trace[use.node].kernel;
  return kernel.valid() && TakesPlainPointers(trace[trace[kernel].name]);
}

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
  explicit Paths(const Ran& trace) : trace_(trace) {}

  // Up to a node, without it, and with it.
  Length Before(NodeId node) {
    Length before;
    for (const EdgeId edge : trace_.graph_edges) {
      if (trace_[edge].to == node) before.Raise(Through(trace_[edge].from));
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
      if (trace_.nodes[i].graph != graph || !trace_.graph_nodes.Has(NodeId(i))) continue;
      longest.Raise(Through(NodeId(i)));
    }
    return longest;
  }

 private:
  const Ran& trace_;
  std::map<NodeId, Length> through_;
};

}  // namespace

std::vector<SlowRace> SlowRaces(const Ran& trace, const SlowOrder& order, const SlowOrder& launch) {
  const std::vector<Use> uses = AllUses(trace);
  std::vector<SlowRace> races;
  for (const Use& a : uses) {
    for (const Use& b : uses) {
      if (!(a.node < b.node) || a.access.block != b.access.block) continue;
      const bool reads = a.access.mode == AccessMode::kRead && b.access.mode == AccessMode::kRead;
      if (reads || !MayMeet(a.access, b.access) || !OfOneRun(trace, a.node, b.node)) continue;
      if (Ordered(trace, order, a.node, b.node, {Ternary::kYes})) continue;
      const bool by_launch = launch.Before(a.node, b.node) || launch.Before(b.node, a.node);
      races.push_back(
          {{a.access.block, a.kind == RaceKind::kAccess ? b.kind : a.kind,
            HowSure(a.access, b.access), by_launch},
           a.node,
           b.node,
           a.access.offset == b.access.offset && (MayWrite(trace, a) || MayWrite(trace, b))});
    }
  }
  return races;
}

namespace {

// A graph that was destroyed, or that others were made after, and of which there was no exec.
bool NeverRan(const Ran& trace, GraphId graph) {
  if (trace.completeness.truncated || trace.process.device == DeviceKind::kImported) return false;
  const auto of_graph = [graph](const Exec& exec) { return exec.graph == graph; };
  const auto made_after = [graph](const Graph& other) { return other.original == graph; };
  if (std::ranges::any_of(trace.execs, of_graph)) return false;
  return trace[graph].destroyed != kNever || std::ranges::any_of(trace.graphs, made_after);
}

}  // namespace

// The verdict on a pair, by the words of the checks' pages.
std::optional<Verdict> SlowVerdict(const Ran& trace, const SlowRace& race,
                                   const SlowOrder& hopeful) {
  const RaceSort& sort = race.sort;
  if (sort.ordered_if_full) {
    const bool hope = Ordered(trace, hopeful, race.a, race.b, {Ternary::kYes, Ternary::kUnknown});
    const bool sure = sort.overlapping != Overlapping::kUnknown;
    return Verdict{"programmatic-only-order",
                   hope   ? Severity::kNote
                   : sure ? Severity::kError
                          : Severity::kWarning,
                   sort.block};
  }
  if (sort.kind == RaceKind::kFree) {
    return Verdict{"free-before-use", Severity::kError, sort.block};
  }
  const auto grave = [&](Severity severity) {
    return NeverRan(trace, RootOf(trace, trace[race.a].graph)) ? Severity::kNote : severity;
  };
  if (sort.kind == RaceKind::kAlloc || sort.overlapping == Overlapping::kCertain) {
    return Verdict{"missing-order", grave(Severity::kError), sort.block};
  }
  const auto typed = [&](NodeId node) {
    if (trace[node].kind != NodeKind::kKernel) return true;
    const KernelId kernel = trace[node].kernel;
    return kernel.valid() && trace[trace[kernel].name].starts_with("_Z");
  };
  if (!typed(race.a) || !typed(race.b)) return {};
  if (race.same_pointer) return Verdict{"missing-order", grave(Severity::kWarning), sort.block};
  if (sort.overlapping == Overlapping::kUnknown) return {};
  return Verdict{"missing-order", Severity::kNote, sort.block};
}

Shape SlowShape(const Ran& trace, GraphId graph) {
  Paths paths(trace);
  const Length longest = paths.Inside(graph);
  Shape shape{.critical_path_nodes = longest.nodes, .critical_path_ns = longest.ns, .width = 0};
  std::map<uint64_t, uint64_t> at_distance;
  for (size_t i = 0; i < trace.nodes.size(); ++i) {
    if (trace.nodes[i].graph != graph || !trace.graph_nodes.Has(NodeId(i))) continue;
    shape.width = std::max(shape.width, ++at_distance[paths.Before(NodeId(i)).nodes]);
  }
  return shape;
}

std::vector<EdgeId> SlowRedundantEdges(const Ran& trace, const SlowOrder& order) {
  std::vector<EdgeId> redundant;
  for (size_t i = 0; i < trace.edges.size(); ++i) {
    const Edge& edge = trace.edges[i];
    if (trace.graph_edges.Has(EdgeId(i)) && edge.full() &&
        order.BeforeWithoutEdge(edge.from, edge.to)) {
      redundant.emplace_back(i);
    }
  }
  return redundant;
}

}  // namespace graphkit
