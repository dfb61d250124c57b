#include "libgraphkit/ran/resolve.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "libgraphkit/group_by.h"
#include "libgraphkit/interval.h"
#include "libgraphkit/model/nesting.h"
#include "libgraphkit/ran/graph_places.h"
#include "libgraphkit/ran/late_edits.h"

namespace graphkit {
namespace {

constexpr uint32_t kAsMade = 0xffffffffu;

// A node's work: from the record of a node (its own; an update's), or from that of a change.
struct NodeVersion {
  NodeId made;
  uint32_t change = kAsMade;  // in Trace::node_changes
  bool off = false;
  auto operator<=>(const NodeVersion&) const = default;
};

// A version of a node that a launch may run.
struct RunVersion {
  NodeId node;
  NodeVersion version;
  auto operator<=>(const RunVersion&) const = default;
};

struct TraceEvent {
  enum class Kind : uint8_t { kChange, kInstantiate, kUpdate, kLaunch, kDestroy };
  Seq seq;
  Kind kind;
  uint32_t index;  // in the trace's column of such
};

// All that may decide what a launch runs, in order.
std::vector<TraceEvent> EventsOf(const Trace& trace) {
  std::vector<TraceEvent> events;
  const auto add = [&events](const auto& column, TraceEvent::Kind kind, auto seq) {
    for (uint32_t i = 0; i < column.size(); ++i) {
      if (column[i].*seq != kNever) events.push_back({column[i].*seq, kind, i});
    }
  };
  using Kind = TraceEvent::Kind;
  add(trace.node_changes, Kind::kChange, &NodeChange::seq);
  add(trace.execs, Kind::kInstantiate, &Exec::created);
  add(trace.execs, Kind::kDestroy, &Exec::destroyed);
  add(trace.exec_updates, Kind::kUpdate, &ExecUpdate::seq);
  add(trace.launches, Kind::kLaunch, &Launch::seq);
  std::ranges::stable_sort(events, {}, &TraceEvent::seq);
  return events;
}

// True when the version of a root that an exec took over at a place is among those shown.
bool InShown(const Ran& trace, GraphId root, Seq fixed) {
  const std::span<const GraphVersion> shown = ShownVersions(trace, root);
  if (shown.empty()) return true;
  const auto next = std::ranges::upper_bound(shown, fixed, {}, &GraphVersion::since);
  return next != shown.begin() && fixed < std::prev(next)->until;
}

using VersionMap = std::unordered_map<NodeId, NodeVersion>;

// As it was made, where the map has no other.
NodeVersion VersionIn(const VersionMap& versions, NodeId node) {
  const auto found = versions.find(node);
  return found == versions.end() ? NodeVersion{.made = node} : found->second;
}

// Goes through the trace once. Nodes that nothing changes aren't looked at: which ones are changed
// is known only in the end, so it goes through it twice.
struct VersionWalk {
  void Go(const std::vector<TraceEvent>& events) {
    for (const NodeId node : changed) by_root[RootOf(trace, trace[node].graph)].push_back(node);
    for (const TraceEvent& event : events) Apply(event);
    for (uint32_t i = 0; i < execs.size(); ++i) RunPending(ExecId(i), false);
    for (const auto& [root, nodes] : by_root) {
      if (started.contains(root)) continue;
      for (const NodeId node : nodes) run.push_back({node, VersionIn(of_graph, node)});
    }
    SortUnique(&run);
  }

  struct ExecState {
    GraphId root;   // that it runs: the one it was instantiated from, or updated from
    Seq since = 0;  // as it was there
    VersionMap nodes;
    std::vector<NodeId> pending;  // whose versions no launch has run yet
    bool launched = false;
    bool kept = false;  // what it took over is in fixes
  };

  void Apply(const TraceEvent& event) {
    switch (event.kind) {
      case TraceEvent::Kind::kChange:
        return Change(event.index);
      case TraceEvent::Kind::kInstantiate:
        return Start(execs[event.index], trace.execs[event.index].graph, event.seq);
      case TraceEvent::Kind::kUpdate:
        return Update(trace.exec_updates[event.index]);
      case TraceEvent::Kind::kLaunch:
        if (const ExecId exec = trace.launches[event.index].exec; exec.valid()) {
          RunPending(exec, true);
        }
        return;
      case TraceEvent::Kind::kDestroy:
        // A change after its last launch never ran; of an exec that never ran, its changes count.
        if (!execs[event.index].launched) RunPending(ExecId(event.index), false);
        execs[event.index].pending.clear();
        execs[event.index].kept = true;
        return;
    }
  }

  // From now on the exec runs the graph, with the parameters that its nodes have now.
  void Start(ExecState& exec, GraphId graph, Seq seq) {
    exec.root = RootOf(trace, graph);
    exec.since = seq;
    exec.kept = false;
    exec.nodes.clear();
    exec.pending.clear();
    started.insert(exec.root);
    if (const auto at = updatable.find(exec.root); at != updatable.end())
      DeviceUpdates(exec.root, at->second);
    const auto found = by_root.find(exec.root);
    if (found == by_root.end()) return;
    for (const NodeId node : found->second) {
      if (trace[node].seq > seq || trace[node].destroyed < seq) continue;
      Set(exec, node, VersionIn(of_graph, node));
    }
  }

  void Update(const ExecUpdate& update) {
    if (update.result != 0) return;
    ExecState& exec = execs[update.exec.index()];
    std::vector<NodeId> off;
    for (const auto& [node, version] : exec.nodes) {
      if (version.off) off.push_back(node);
    }
    const Seq before = exec.since;
    Start(exec, update.graph, update.seq);
    for (const NodeId node : off) {
      const NodeId target = places.Counterpart(node, before, exec.root, update.seq);
      if (!target.valid()) {
        Unknown(exec.root, "which nodes are off after an update of exec " +
                               std::to_string(update.exec.value) + " isn't known");
        continue;
      }
      NodeVersion version = VersionIn(exec.nodes, target);
      version.off = true;
      Set(exec, target, version);
    }
  }

  void Set(ExecState& exec, NodeId node, const NodeVersion& version) {
    changed.insert(node);
    exec.nodes[node] = version;
    exec.pending.push_back(node);
  }

  void RunPending(ExecId id, bool launched) {
    ExecState& exec = execs[id.index()];
    exec.launched |= launched;
    if (!exec.kept && exec.root.valid()) fixes.push_back({exec.root, exec.since, id, launched});
    exec.kept = true;
    if (!InShown(trace, exec.root, exec.since)) return exec.pending.clear();
    for (const NodeId node : std::exchange(exec.pending, {})) {
      run.push_back({node, VersionIn(exec.nodes, node)});
    }
  }

  void Change(uint32_t index) {
    const NodeChange& change = trace.node_changes[index];
    if (change.what == NodeChangeKind::kUpdatable) return MayUpdate(change.node);
    if (!change.exec.valid()) {
      changed.insert(change.node);
      if (change.child.valid()) return SetChild(nullptr, change.node, change);
      of_graph[change.node] = After(VersionIn(of_graph, change.node), index);
      return;
    }
    ExecState& exec = execs[change.exec.index()];
    const Exec& made = trace[change.exec];
    const bool own = RootOf(trace, trace[change.node].graph) == RootOf(trace, made.graph);
    const NodeId node =
        places.Counterpart(change.node, own ? made.created : change.seq, exec.root, exec.since);
    if (!node.valid()) return NotApplied(exec.root, change);
    if (change.child.valid()) return SetChild(&exec, node, change);
    Set(exec, node, After(VersionIn(exec.nodes, node), index));
  }

  NodeVersion After(NodeVersion version, uint32_t index) const {
    const NodeChange& change = trace.node_changes[index];
    if (change.what == NodeChangeKind::kParams) {
      version.change = index;
    } else {
      version.off = change.what == NodeChangeKind::kDisabled;
    }
    return version;
  }

  // The nodes of an embedded graph do what those of another graph do now.
  void SetChild(ExecState* exec, NodeId holder, const NodeChange& change) {
    const Seq at = exec == nullptr ? change.seq : exec->since;
    const auto pairs = places.Pairs({places.Held(holder, 0), at}, {change.child, change.seq});
    const GraphId root = RootOf(trace, trace[holder].graph);
    if (!pairs) return NotApplied(root, change);
    for (const auto& [node, like] : *pairs) {
      NodeVersion version = VersionIn(of_graph, like);
      if (exec == nullptr) {
        changed.insert(node);
        of_graph[node] = version;
        continue;
      }
      version.off = VersionIn(exec->nodes, node).off;
      Set(*exec, node, version);
    }
  }

  void MayUpdate(NodeId node) {
    const GraphId root = RootOf(trace, trace[node].graph);
    updatable.emplace(root, node);
    if (started.contains(root)) DeviceUpdates(root, node);
  }

  void DeviceUpdates(GraphId root, NodeId node) {
    Unknown(root, "kernels may change what node " + std::to_string(node.value) + " does");
  }

  void NotApplied(GraphId root, const NodeChange& change) {
    Unknown(root, "which node has the parameters set of node " + std::to_string(change.node.value) +
                      " isn't known, for the graphs differ");
  }

  void Unknown(GraphId root, const std::string& why) {
    if (root.valid()) unknown.emplace(root, why);
  }

  const Ran& trace;
  GraphPlaces& places;
  std::unordered_set<NodeId>& changed;
  std::unordered_map<GraphId, std::vector<NodeId>> by_root = {};  // those known to be changed
  VersionMap of_graph = {};
  std::vector<ExecState> execs = std::vector<ExecState>(trace.execs.size());
  std::unordered_set<GraphId> started = {};
  std::unordered_map<GraphId, NodeId> updatable = {};
  std::vector<RunVersion> run = {};             // of all nodes that are changed, by node, each once
  std::vector<GraphFix> fixes = {};             // the versions of graphs that execs took over
  std::map<GraphId, std::string> unknown = {};  // by graph: why that isn't all
};

// Copies what a node does from one row that has it (Node, NodeChange, ChangedNode) to another.
template <typename From, typename To>
void CopyWork(const From& from, To* to) {
  to->kernel = from.kernel;
  to->shape = from.shape;
  to->accesses = from.accesses;
  to->event = from.event;
  to->accesses_complete = from.accesses_complete;
}

// The work of a version; nothing else of the row is set.
using NodeWork = ChangedNode;

NodeWork WorkOf(const Trace& trace, const NodeVersion& version) {
  const Node& made = trace[version.made];
  NodeWork work;
  CopyWork(made, &work);
  if (version.change == kAsMade) return work;
  CopyWork(trace.node_changes[version.change], &work);
  if (!work.kernel.valid()) work.kernel = made.kernel;  // where the change names none
  if (work.shape >= trace.shapes.size()) work.shape = made.shape;
  return work;
}

// Accesses of any of the works; each once.
Slice Union(const std::vector<NodeWork>& works, Trace* trace) {
  if (works.empty()) return {};
  if (works.size() == 1) return works[0].accesses;
  std::vector<Access> all;
  for (const NodeWork& work : works) {
    for (const Access& access : trace->accesses.Of(work.accesses)) all.push_back(access);
  }
  const auto key = [](const Access& a) {
    return std::tuple(a.block, a.offset, a.length, a.rows, a.mode);
  };
  SortUnique(&all, key);
  return trace->accesses.Append(all);
}

struct NodeRewrite {
  ChangedNode made;
  NodeWork now;
};

NodeRewrite RewriteOf(NodeId id, std::span<const RunVersion> versions, Trace* trace) {
  const Node& node = (*trace)[id];
  NodeRewrite change{.made = {.node = id, .varies = versions.size() > 1}};
  CopyWork(node, &change.made);
  CopyWork(node, &change.now);
  std::vector<NodeWork> works;
  for (const RunVersion& run : versions) {
    if (!run.version.off) works.push_back(WorkOf(*trace, run.version));
  }
  ChangedNode& made = change.made;
  if (!works.empty()) change.now = works.back();
  change.now.accesses_complete = true;
  made.waits =
      works.size() == versions.size() ? WaitsOf(*trace, works[0].kernel) : Ternary::kUnknown;
  for (const NodeWork& work : works) {
    change.now.accesses_complete = change.now.accesses_complete && work.accesses_complete;
    made.opaque = made.opaque || MayTouchAnything(*trace, node.kind, work);
    made.kernels_vary = made.kernels_vary || work.kernel != works[0].kernel;
    if (WaitsOf(*trace, work.kernel) != made.waits) made.waits = Ternary::kUnknown;
  }
  change.now.accesses = Union(works, trace);
  return change;
}

// Where the accesses end that records have: behind them lie the unions.
size_t RecordedAccesses(const Trace& trace) {
  size_t end = 0;
  const auto take = [&end](const auto& column) {
    for (const auto& row : column) {
      end = std::max<size_t>(end, size_t{row.accesses.first} + row.accesses.count);
    }
  };
  take(trace.nodes);
  take(trace.node_changes);
  take(trace.works);
  return end;
}

std::vector<ExecGraph> GraphsByExec(const Trace& trace, std::vector<uint32_t>* first) {
  std::vector<ExecGraph> graphs;
  for (const auto& [i, exec] : Enumerate<uint32_t>(trace.execs))
    graphs.push_back({ExecId(i), exec.graph, exec.created});
  for (const ExecUpdate& update : trace.exec_updates) {
    if (update.result != 0 || update.exec.index() >= trace.execs.size()) continue;
    graphs.push_back({update.exec, update.graph, update.seq});
  }
  if (graphs.size() > trace.execs.size()) std::ranges::stable_sort(graphs, {}, &ExecGraph::exec);
  first->assign(trace.execs.size() + 1, 0);
  for (size_t i = 0; i < graphs.size(); ++i) {
    ++(*first)[graphs[i].exec.index() + 1];
    const bool next = i + 1 < graphs.size() && graphs[i + 1].exec == graphs[i].exec;
    graphs[i].until = next ? graphs[i + 1].since : trace[graphs[i].exec].destroyed;
  }
  std::partial_sum(first->begin(), first->end(), first->begin());
  return graphs;
}

// Of versions by seq, the numbers of those between two places.
Interval<size_t> Between(std::span<const GraphVersion> versions, Seq made, Seq gone) {
  const auto first = std::ranges::upper_bound(versions, made, {}, &GraphVersion::seq);
  const auto last = std::ranges::lower_bound(first, versions.end(), gone, {}, &GraphVersion::seq);
  return {static_cast<size_t>(first - versions.begin()),
          static_cast<size_t>(last - versions.begin())};
}

bool Within(Interval<size_t> inner, Interval<size_t> outer) {
  return outer.begin <= inner.begin && inner.end <= outer.end;
}

bool IsIn(const Ran& trace, const Node& node) {
  const std::span<const GraphVersion> shown = ShownVersions(trace, node.graph);
  if (!shown.empty()) return !Between(shown, node.seq, node.destroyed).empty();
  return node.destroyed == kNever || node.destroyed >= trace[node.graph].destroyed;
}

// In all versions that have the node that the edge leads to.
bool IsIn(const Ran& trace, const Edge& edge) {
  const size_t nodes = trace.nodes.size();
  if (edge.from.index() >= nodes || edge.to.index() >= nodes) return false;
  const Node& from = trace[edge.from];
  const Node& to = trace[edge.to];
  if (from.graph != to.graph) return false;
  const std::span<const GraphVersion> shown = ShownVersions(trace, from.graph);
  if (shown.empty()) {
    return (edge.removed == kNever || edge.removed >= trace[from.graph].destroyed) &&
           trace.graph_nodes.Has(edge.from) && trace.graph_nodes.Has(edge.to);
  }
  const Interval<size_t> with = Between(shown, to.seq, to.destroyed);
  return !with.empty() && Within(with, Between(shown, edge.seq, edge.removed)) &&
         Within(with, Between(shown, from.seq, from.destroyed));
}

template <typename Id, typename Column>
IdsOf<Id> FindIn(const Ran& trace, const Column& column) {
  std::vector<bool> out;
  for (const auto& [i, row] : Enumerate(column)) {
    if (IsIn(trace, row)) continue;
    out.resize(column.size());
    out[i] = true;
  }
  return {column.size(), std::move(out)};
}

// What is shown, as rows have it.
void MarkShown(Ran* trace) {
  const auto taken_out = [](const Node& node) { return node.destroyed != kNever; };
  trace->graph_nodes = {trace->nodes.size(), {}};
  if (!trace->versions.empty() || std::ranges::any_of(trace->nodes.shared(), taken_out))
    trace->graph_nodes = FindIn<NodeId>(*trace, trace->nodes);
  trace->graph_edges = FindIn<EdgeId>(*trace, trace->edges);
  for (ExecGraph& of : trace->exec_graphs) of.shown = InShown(*trace, of.graph, of.since);
}

// By the versions that are shown; `find`: finds them first.
void RewriteNodes(Ran* trace, bool find) {
  const std::vector<GraphEdit> edits = find ? FindLateEdits(*trace) : std::vector<GraphEdit>();
  if (trace->node_changes.empty() && edits.empty()) return;
  const std::vector<TraceEvent> events = EventsOf(*trace);
  GraphPlaces places(*trace);
  std::unordered_set<NodeId> changed;
  VersionWalk all{*trace, places, changed};
  all.Go(events);
  if (find) SetVersions(edits, std::move(all.fixes), trace);
  VersionWalk walk{*trace, places, changed};
  walk.Go(events);
  std::vector<NodeRewrite> changes;
  const std::span<const RunVersion> run = walk.run;
  for (size_t first = 0, end = 0; first < run.size(); first = end) {
    while (end < run.size() && run[end].node == run[first].node) ++end;
    const NodeId node = run[first].node;
    if (end - first == 1 && run[first].version == NodeVersion{.made = node}) continue;
    changes.push_back(RewriteOf(node, run.subspan(first, end - first), trace));
  }
  for (const NodeRewrite& change : changes) {
    trace->nodes.Change(change.made.node.index(), [&](Node& node) { CopyWork(change.now, &node); });
    trace->changed_nodes.push_back(change.made);
  }
  for (const auto& [graph, why] : walk.unknown) {
    trace->completeness.unapplied.push_back("graph " + std::to_string(graph.value) + ": " + why);
  }
}

// As they were made.
void UndoRewrite(Ran* trace) {
  if (trace->node_changes.empty()) return;
  for (const ChangedNode& made : trace->changed_nodes) {
    trace->nodes.Change(made.node.index(), [&](Node& node) { CopyWork(made, &node); });
  }
  trace->changed_nodes.clear();
  trace->completeness.unapplied.clear();
  trace->accesses.resize(RecordedAccesses(*trace));
}

}  // namespace

Trace AsRecorded(Ran trace) {
  UndoRewrite(&trace);
  return trace;
}

Ran Resolve(Trace trace) {
  Ran ran{std::move(trace)};
  ran.exec_graphs = GraphsByExec(ran, &ran.first_exec_graph);
  RewriteNodes(&ran, true);
  MarkShown(&ran);
  return ran;
}

void ShowVersion(size_t number, Ran* trace) {
  UndoRewrite(trace);
  for (Slice& shown : trace->shown_versions) {
    if (shown.count == 0) continue;
    const auto all = VersionsOf(*trace, trace->versions[shown.first].graph);
    const size_t first = static_cast<size_t>(all.data() - trace->versions.data());
    shown = {static_cast<uint32_t>(first + std::min(number, all.size() - 1)), 1};
  }
  RewriteNodes(trace, false);
  MarkShown(trace);
}

}  // namespace graphkit
