#include "libgraphkit/model/node_versions.h"

#include <map>
#include <unordered_set>

#include "libgraphkit/group_by.h"
#include "libgraphkit/model/graph_versions.h"

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

using VersionMap = std::unordered_map<NodeId, NodeVersion>;

// As it was made, where the map has no other.
NodeVersion VersionIn(const VersionMap& versions, NodeId node) {
  const auto found = versions.find(node);
  return found == versions.end() ? NodeVersion{.made = node} : found->second;
}

// Goes through the trace once. Nodes that nothing changes aren't looked at: which ones are changed
// is known only in the end, so it goes through it twice.
class VersionWalk {
 public:
  VersionWalk(const Trace& trace, GraphPlaces& places, std::unordered_set<NodeId>* changed)
      : trace_(trace), places_(places), changed_(*changed), execs_(trace.execs.size()) {
    for (const NodeId node : changed_) by_root_[RootOf(trace_, trace_[node].graph)].push_back(node);
  }

  void Go(const std::vector<TraceEvent>& events) {
    for (const TraceEvent& event : events) Apply(event);
    for (uint32_t i = 0; i < execs_.size(); ++i) RunPending(ExecId(i), false);
    for (const auto& [root, nodes] : by_root_) {
      if (started_.contains(root)) continue;
      for (const NodeId node : nodes) run_.push_back({node, VersionIn(of_graph_, node)});
    }
    SortUnique(&run_);
  }

  // Of all nodes that are changed, by node, each once.
  std::span<const RunVersion> run() const { return run_; }
  // The versions of graphs that execs took over.
  std::vector<GraphFix> TakeFixes() { return std::move(fixes_); }
  // By graph: why that isn't all.
  const std::map<GraphId, std::string>& unknown() const { return unknown_; }

 private:
  struct ExecState {
    GraphId root;   // that it runs: the one it was instantiated from, or updated from
    Seq since = 0;  // as it was there
    VersionMap nodes;
    std::vector<NodeId> pending;  // whose versions no launch has run yet
    bool launched = false;
    bool kept = false;  // what it took over is in fixes_
  };

  void Apply(const TraceEvent& event) {
    switch (event.kind) {
      case TraceEvent::Kind::kChange:
        return Change(event.index);
      case TraceEvent::Kind::kInstantiate:
        return Start(execs_[event.index], trace_.execs[event.index].graph, event.seq);
      case TraceEvent::Kind::kUpdate:
        return Update(trace_.exec_updates[event.index]);
      case TraceEvent::Kind::kLaunch:
        if (const ExecId exec = trace_.launches[event.index].exec; exec.valid()) {
          RunPending(exec, true);
        }
        return;
      case TraceEvent::Kind::kDestroy:
        // A change after its last launch never ran; of an exec that never ran, its changes count.
        if (!execs_[event.index].launched) RunPending(ExecId(event.index), false);
        execs_[event.index].pending.clear();
        execs_[event.index].kept = true;
        return;
    }
  }

  // From now on the exec runs the graph, with the parameters that its nodes have now.
  void Start(ExecState& exec, GraphId graph, Seq seq) {
    exec.root = RootOf(trace_, graph);
    exec.since = seq;
    exec.kept = false;
    exec.nodes.clear();
    exec.pending.clear();
    started_.insert(exec.root);
    if (const auto updatable = updatable_.find(exec.root); updatable != updatable_.end()) {
      DeviceUpdates(exec.root, updatable->second);
    }
    const auto found = by_root_.find(exec.root);
    if (found == by_root_.end()) return;
    for (const NodeId node : found->second) {
      if (trace_[node].seq > seq || trace_[node].destroyed < seq) continue;
      Set(exec, node, VersionIn(of_graph_, node));
    }
  }

  void Update(const ExecUpdate& update) {
    if (update.result != 0) return;
    ExecState& exec = execs_[update.exec.index()];
    std::vector<NodeId> off;
    for (const auto& [node, version] : exec.nodes) {
      if (version.off) off.push_back(node);
    }
    const Seq before = exec.since;
    Start(exec, update.graph, update.seq);
    for (const NodeId node : off) {
      const NodeId target = places_.Counterpart(node, before, exec.root, update.seq);
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
    changed_.insert(node);
    exec.nodes[node] = version;
    exec.pending.push_back(node);
  }

  void RunPending(ExecId id, bool launched) {
    ExecState& exec = execs_[id.index()];
    exec.launched |= launched;
    if (!exec.kept && exec.root.valid()) fixes_.push_back({exec.root, exec.since, id, launched});
    exec.kept = true;
    if (!IsShown(trace_, exec.root, exec.since)) return exec.pending.clear();
    for (const NodeId node : std::exchange(exec.pending, {})) {
      run_.push_back({node, VersionIn(exec.nodes, node)});
    }
  }

  void Change(uint32_t index) {
    const NodeChange& change = trace_.node_changes[index];
    if (change.what == NodeChangeKind::kUpdatable) return MayUpdate(change.node);
    if (!change.exec.valid()) {
      changed_.insert(change.node);
      if (change.child.valid()) return SetChild(nullptr, change.node, change);
      of_graph_[change.node] = After(VersionIn(of_graph_, change.node), index);
      return;
    }
    ExecState& exec = execs_[change.exec.index()];
    const Exec& made = trace_[change.exec];
    const bool own = RootOf(trace_, trace_[change.node].graph) == RootOf(trace_, made.graph);
    const NodeId node =
        places_.Counterpart(change.node, own ? made.created : change.seq, exec.root, exec.since);
    if (!node.valid()) return NotApplied(exec.root, change);
    if (change.child.valid()) return SetChild(&exec, node, change);
    Set(exec, node, After(VersionIn(exec.nodes, node), index));
  }

  NodeVersion After(NodeVersion version, uint32_t index) const {
    const NodeChange& change = trace_.node_changes[index];
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
    const auto pairs = places_.Pairs({places_.Held(holder, 0), at}, {change.child, change.seq});
    const GraphId root = RootOf(trace_, trace_[holder].graph);
    if (!pairs) return NotApplied(root, change);
    for (const auto& [node, like] : *pairs) {
      NodeVersion version = VersionIn(of_graph_, like);
      if (exec == nullptr) {
        changed_.insert(node);
        of_graph_[node] = version;
        continue;
      }
      version.off = VersionIn(exec->nodes, node).off;
      Set(*exec, node, version);
    }
  }

  void MayUpdate(NodeId node) {
    const GraphId root = RootOf(trace_, trace_[node].graph);
    updatable_.emplace(root, node);
    if (started_.contains(root)) DeviceUpdates(root, node);
  }

  void DeviceUpdates(GraphId root, NodeId node) {
    Unknown(root, "kernels may change what node " + std::to_string(node.value) + " does");
  }

  void NotApplied(GraphId root, const NodeChange& change) {
    Unknown(root, "which node has the parameters set of node " + std::to_string(change.node.value) +
                      " isn't known, for the graphs differ");
  }

  void Unknown(GraphId root, const std::string& why) {
    if (root.valid()) unknown_.emplace(root, why);
  }

  const Trace& trace_;
  GraphPlaces& places_;
  std::unordered_set<NodeId>& changed_;
  std::unordered_map<GraphId, std::vector<NodeId>> by_root_;  // those known to be changed
  VersionMap of_graph_;
  std::vector<ExecState> execs_;
  std::unordered_set<GraphId> started_;
  std::unordered_map<GraphId, NodeId> updatable_;
  std::vector<RunVersion> run_;
  std::vector<GraphFix> fixes_;
  std::map<GraphId, std::string> unknown_;
};

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

// True when the row of a node of this kind leaves open which memory it touches.
template <typename Work>
bool MayTouchAnything(const Trace& trace, NodeKind kind, const Work& work) {
  if (work.accesses_complete || work.accesses.count != 0) return false;
  if (kind == NodeKind::kUnknown) return true;
  if (kind != NodeKind::kKernel) return false;
  return work.kernel.index() >= trace.kernels.size() || !trace[work.kernel].has_layout;
}

Ternary WaitsOf(const Trace& trace, KernelId kernel) {
  return kernel.index() < trace.kernels.size() ? trace[kernel].waits : Ternary::kUnknown;
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

// By the versions that are shown; `find`: finds them first.
void RewriteNodes(Trace* trace, bool find) {
  const std::vector<GraphEdit> edits = find ? FindLateEdits(*trace) : std::vector<GraphEdit>();
  if (trace->node_changes.empty() && edits.empty()) return;
  const std::vector<TraceEvent> events = EventsOf(*trace);
  GraphPlaces places(*trace);
  std::unordered_set<NodeId> changed;
  VersionWalk all(*trace, places, &changed);
  all.Go(events);
  if (find) SetVersions(edits, all.TakeFixes(), trace);
  VersionWalk walk(*trace, places, &changed);
  walk.Go(events);
  std::vector<NodeRewrite> changes;
  const std::span<const RunVersion> run = walk.run();
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
  for (const auto& [graph, why] : walk.unknown()) {
    trace->completeness.unapplied.push_back("graph " + std::to_string(graph.value) + ": " + why);
  }
}

// As they were made.
void UndoRewrite(Trace* trace) {
  if (trace->node_changes.empty()) return;
  for (const ChangedNode& made : trace->changed_nodes) {
    trace->nodes.Change(made.node.index(), [&](Node& node) { CopyWork(made, &node); });
  }
  trace->changed_nodes.clear();
  trace->completeness.unapplied.clear();
  trace->accesses.resize(RecordedAccesses(*trace));
}

}  // namespace

void ApplyNodeChanges(Trace* trace) { RewriteNodes(trace, true); }

void RestoreNodes(Trace* trace) {
  UndoRewrite(trace);
  trace->versions.clear();
  trace->shown_versions.clear();
}

Trace WithVersion(Trace trace, size_t number) {
  UndoRewrite(&trace);
  for (Slice& shown : trace.shown_versions) {
    if (shown.count == 0) continue;
    shown = {shown.first + std::min(static_cast<uint32_t>(number), shown.count - 1), 1};
  }
  RewriteNodes(&trace, false);
  return trace;
}

const ChangedNode* FindChanged(const Trace& trace, NodeId node) {
  const auto at = std::ranges::lower_bound(trace.changed_nodes, node, {}, &ChangedNode::node);
  return at != trace.changed_nodes.end() && at->node == node ? &*at : nullptr;
}

Ternary WaitsFor(const Trace& trace, NodeId node) {
  if (const ChangedNode* changed = FindChanged(trace, node)) return changed->waits;
  return WaitsOf(trace, trace[node].kernel);
}

Ternary EndWaitsFor(const Trace& trace, NodeId node) {
  const Ternary waits = WaitsFor(trace, node);
  const KernelId kernel = trace[node].kernel;
  const bool some = waits == Ternary::kUnknown && kernel.index() < trace.kernels.size() &&
                    !FindChanged(trace, node) && trace[kernel].waits == Ternary::kUnknown &&
                    trace[kernel].triggers != Triggers::kUnknown;
  return some ? Ternary::kYes : waits;
}

EarlyStart EarlyStartOf(const Trace& trace, const Edge& edge) {
  EarlyStart start{.from_port = edge.from_port, .waits = WaitsFor(trace, edge.to)};
  const ChangedNode* changed = FindChanged(trace, edge.from);
  const KernelId kernel = trace[edge.from].kernel;
  if ((changed != nullptr && changed->kernels_vary) || kernel.index() >= trace.kernels.size()) {
    return start;
  }
  start.triggers = trace[kernel].triggers;
  start.writes_after_trigger = trace[kernel].writes_after_trigger;
  return start;
}

bool MayTouchAnything(const Trace& trace, NodeId id) {
  if (const ChangedNode* changed = FindChanged(trace, id)) return changed->opaque;
  return MayTouchAnything(trace, trace[id].kind, trace[id]);
}

NodeChanges::NodeChanges(const Trace& trace) {
  for (const NodeChange& change : trace.node_changes) {
    if (change.what == NodeChangeKind::kEnabled) continue;
    First& first = changes_[change.node.value];
    Seq& seq = change.what == NodeChangeKind::kParams      ? first.params
               : change.what == NodeChangeKind::kUpdatable ? first.updatable
                                                           : first.off;
    seq = std::min(seq, change.seq);
  }
  for (const ChangedNode& changed : trace.changed_nodes) {
    changes_[changed.node.value].varies = changed.varies;
  }
}

bool NodeChanges::Changed(NodeId node, Seq before) const {
  const auto found = changes_.find(node.value);
  if (found == changes_.end()) return false;
  const auto [params, off, updatable, varies] = found->second;
  const Seq first = std::min(params, off);  // kNever: by an update, from a node that was changed
  return updatable < before || (varies && (first == kNever || first < before));
}

std::string NodeChanges::Text(NodeId node) const {
  const auto found = changes_.find(node.value);
  if (found == changes_.end()) return "";
  const auto [params, off, updatable, varies] = found->second;
  std::string text;
  const auto add = [&text](Seq first, const char* what) {
    if (first != kNever) text += (text.empty() ? "" : ", ") + std::string(what);
  };
  add(params, "parameters set later");
  add(off, "switched off later");
  add(updatable, "updatable from the device");
  return text;
}

}  // namespace graphkit
