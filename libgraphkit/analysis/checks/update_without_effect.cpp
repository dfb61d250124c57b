// update-without-effect: parameters that were set, or updated, and that no launch ran with, or that
// were there before.
#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {
namespace {

// Changes of an exec that aren't launched yet.
struct PendingUpdates {
  bool updated = false;                                       // as a whole
  std::map<std::pair<NodeId, NodeChangeKind>, Seq> set = {};  // of single nodes
  Seq since = 0;
  bool launched = false;  // with something that was set
  size_t replaced = 0;
  Seq first_replaced = 0;
  size_t all = 0, same = 0;  // and of them those to what it was before
  Seq first_same = 0;

  bool any() const { return updated || !set.empty(); }
  void Replace(size_t count, Seq at) {
    if (count == 0) return;
    if (replaced == 0) first_replaced = at;
    replaced += count;
  }
  void Count(bool is_same, Seq at) {
    ++all;
    if (is_same && same++ == 0) first_same = at;
  }
  void Clear() {
    updated = false;
    set.clear();
  }
};

// Goes through what happened to execs, in order.
class UpdateWalk {
 public:
  explicit UpdateWalk(const Facts& facts) : facts_(facts), trace_(facts.trace) {}

  std::vector<Finding> Find() {
    auto change = trace_.node_changes.begin();
    auto update = trace_.exec_updates.begin();
    auto launch = trace_.launches.begin();
    const auto at = [](const auto& row, const auto& column) {
      return row == column.end() ? kNever : row->seq;
    };
    for (;;) {
      const Seq changed = at(change, trace_.node_changes),
                updated = at(update, trace_.exec_updates), launched = at(launch, trace_.launches);
      const Seq next = std::min({changed, updated, launched});
      if (next == kNever) break;
      if (next == changed) {
        Take(*change++);
      } else if (next == updated) {
        Take(*update++);
      } else {
        Take(*launch++);
      }
    }
    std::vector<Finding> findings;
    for (const auto& [exec, pending] : pending_) Judge(exec, pending, &findings);
    return findings;
  }

 private:
  void Take(const NodeChange& change) {
    if (!change.exec.valid() || change.what == NodeChangeKind::kUpdatable) return;
    PendingUpdates& pending = pending_[change.exec];
    if (!pending.any()) pending.since = change.seq;
    const bool toggles = change.what != NodeChangeKind::kParams;
    if (!toggles) pending.Count(change.same, change.seq);
    const NodeChangeKind kind = toggles ? NodeChangeKind::kEnabled : NodeChangeKind::kParams;
    const auto [set, is_new] = pending.set.try_emplace({change.node, kind}, change.seq);
    if (!is_new) pending.Replace(1, change.seq);
  }
  void Take(const ExecUpdate& update) {
    if (update.result != 0) return;
    PendingUpdates& pending = pending_[update.exec];
    pending.Count(update.same, update.seq);
    const size_t params = std::erase_if(pending.set, [](const auto& set) {  // switches stay
      return set.first.second == NodeChangeKind::kParams;
    });
    pending.Replace(params + (pending.updated ? 1 : 0), update.seq);
    pending.updated = true;
    pending.since = update.seq;
  }
  void Take(const Launch& launch) {
    const auto found = pending_.find(launch.exec);
    if (found == pending_.end() || !found->second.any()) return;
    found->second.launched = true;
    found->second.Clear();
  }

  void Judge(ExecId exec, const PendingUpdates& pending, std::vector<Finding>* findings) const {
    const std::string name =
        "exec " + std::to_string(exec.value) + " of " + NameOf(trace_, trace_[exec].graph);
    Finding finding{.severity = Severity::kNote, .graph = trace_[exec].graph};
    // One that waits for its next launch at the end is how programs that update end.
    const bool over = trace_[exec].destroyed != kNever || KnowsWhatWasFreed(trace_);
    if (pending.any() && !pending.launched && over) {
      finding.message = name + " was updated, and never launched since";
      finding.advice = "launch it after the update, or leave the update out";
      finding.evidence = {{.text = "it was updated " + facts_.places().Of(pending.since)}};
      findings->push_back(finding);
    }
    if (pending.same != 0) {
      finding.message = std::to_string(pending.same) + " of " + Count(pending.all, "update") +
                        " of " + name + " gave it the parameters that it had";
      finding.advice = "leave out an update that changes nothing";
      finding.evidence = {{.text = "the first was made " + facts_.places().Of(pending.first_same)}};
      findings->push_back(finding);
    }
    if (pending.replaced == 0) return;
    finding.message = Count(pending.replaced, "update") + " of " + name +
                      (pending.replaced == 1 ? " was" : " were") +
                      " replaced by another one before a launch";
    finding.advice = "update an exec once before each launch";
    finding.evidence = {
        {.text = "the first was replaced " + facts_.places().Of(pending.first_replaced)}};
    findings->push_back(std::move(finding));
  }

  const Facts& facts_;
  const Trace& trace_;
  std::map<ExecId, PendingUpdates> pending_;
};

// By graph, the last time that something was made of it: an exec, an update, a copy.
std::vector<Seq> LastUses(const Trace& trace) {
  std::vector<Seq> last(trace.graphs.size());
  const auto use = [&](GraphId graph, Seq seq) {
    if (graph.valid()) last[graph.index()] = std::max(last[graph.index()], seq);
  };
  for (const Exec& exec : trace.execs) use(exec.graph, exec.created);
  for (const ExecUpdate& update : trace.exec_updates) use(update.graph, update.seq);
  for (const Graph& graph : trace.graphs) use(graph.original, graph.created);
  return last;
}

struct UnseenChanges {
  std::vector<const NodeChange*> changes;
  uint64_t launches = 0;  // that ran without one of them
};

// `changes`: of a graph's nodes, and of these nodes in execs: an exec that is given parameters of
// its own has them. `launches`: of the graph.
UnseenChanges FindUnseen(const Trace& trace, const std::vector<const NodeChange*>& changes,
                         const std::vector<uint32_t>& launches) {
  UnseenChanges found;
  std::map<NodeId, const NodeChange*> now;
  auto change = changes.begin();
  for (const uint32_t launch : launches) {
    for (; change != changes.end() && (*change)->seq < trace.launches[launch].seq; ++change) {
      const NodeChange& next = **change;
      if (next.exec.valid() || next.back) {
        now.erase(next.node);
      } else {
        now.emplace(next.node, &next);
      }
    }
    found.launches += now.empty() ? 0 : 1;
    for (const auto& [node, set] : now) AddOnce(set, &found.changes);
  }
  return found;
}

// Nodes of graphs that were set, while the execs went on with what they had.
void FindUnseen(const Facts& facts, std::vector<Finding>* findings) {
  const Trace& trace = facts.trace;
  const std::vector<Seq> last_use = LastUses(trace);
  std::map<GraphId, std::vector<const NodeChange*>> set;
  for (const NodeChange& change : trace.node_changes) {
    if (change.what != NodeChangeKind::kParams) continue;
    const GraphId root = facts.RootOf(change.node);
    if (last_use[root.index()] != 0 && last_use[root.index()] < change.seq)
      set[root].push_back(&change);
  }
  if (set.empty()) return;
  const auto& launches = facts.launches();
  for (const auto& [root, all] : set) {
    const auto [changes, later] = FindUnseen(trace, all, launches[root.index()]);
    if (later == 0) continue;
    Finding finding{.severity = Severity::kWarning, .graph = root};
    for (const NodeChange* change : changes) {
      if (!AddOnce(change->node, &finding.nodes) || finding.evidence.size() >= kShownEvidence)
        continue;
      finding.evidence.push_back({.text = NameOf(trace, change->node) +
                                          " was set in the graph; no exec was made or updated of "
                                          "the graph since",
                                  .nodes = {change->node},
                                  .stack = trace[change->node].stack});
    }
    finding.message = NameOf(trace, root) + " was given other parameters in " +
                      Count(finding.nodes.size(), "node") +
                      " after it was instantiated: it was launched " + Count(later, "time") +
                      " since, with the old ones";
    finding.advice =
        "set them in the exec (cudaGraphExecKernelNodeSetParams, …), or update the exec from the "
        "graph (cudaGraphExecUpdate)";
    findings->push_back(std::move(finding));
  }
}

}  // namespace

std::vector<Finding> FindUpdatesWithoutEffect(const Facts& facts) {
  std::vector<Finding> findings;
  FindUnseen(facts, &findings);
  for (Finding& finding : UpdateWalk(facts).Find()) findings.push_back(std::move(finding));
  return findings;
}

}  // namespace graphkit
