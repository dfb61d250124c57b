// Checks of updates of execs.
#include <variant>

#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/order/shape.h"

namespace graphkit {
namespace {

// Failures alike from which on the program pays for an instantiation each time.
constexpr size_t kManyFailures = 3;

// Of a CUgraphExecUpdateResult.
struct ResultText {
  const char* name;  // after cudaGraphExecUpdateError
  const char* meaning;
  const char* advice;
};

constexpr const char* kOtherShape =
    "capture the same calls in the same order each time, or instantiate a graph of another shape "
    "on its own";

// By their values.
constexpr ResultText kResultTexts[] = {
    {"", "CUDA doesn't say why", "check that the graph is whole and not being captured"},
    {"", "CUDA doesn't say why", "check that the graph is whole and not being captured"},
    {"TopologyChanged", "nodes or edges differ", kOtherShape},
    {"NodeTypeChanged", "a node is of another type", kOtherShape},
    {"FunctionChanged", "a kernel's function differs, which drivers before 11.2 refuse",
     "use a later driver, or keep an exec for each function"},
    {"ParametersChanged", "a parameter differs that an update can't set",
     "keep it as it was (a copy's kinds of memory, an allocation's size, the shape of a copy or "
     "memset of several rows), or instantiate the graph on its own"},
    {"NotSupported", "something about the node can't be updated",
     "leave memory nodes and kernels that devices update out of graphs that are updated, or "
     "instantiate the graph on its own"},
    {"UnsupportedFunctionChange", "a kernel's function changes in a way that isn't allowed",
     "keep a kernel node's context, and don't change to a kernel that launches others"},
    {"AttributesChanged", "a kernel's attributes differ",
     "launch with the same attributes (cooperative, cluster, priority) each time"},
};

struct FailedUpdates {
  Finding finding = {};
  size_t count = 0;
  size_t stale_launches = 0;
  const ExecUpdate* first = nullptr;
};

struct FailureFinder {
  std::vector<Finding> Find() {
    for (const ExecUpdate& update : trace.exec_updates) {
      if (!update.exec.valid() || !update.graph.valid() || update.result == 0) continue;
      const ExecGraph runs = trace.GraphBefore(update.exec, update.seq);
      if (runs.graph.valid()) Add(update, runs.graph, runs.since);
    }
    std::vector<Finding> findings;
    for (auto& [key, failed] : found) findings.push_back(Describe(std::move(failed)));
    return findings;
  }

  void Add(const ExecUpdate& update, GraphId runs, Seq since) {
    const GraphDifference difference =
        differences.First(runs, since, update.graph, update.seq, update.node);
    FailedUpdates& failed = found[{update.result, difference.what, difference.place}];
    ++failed.count;
    failed.stale_launches += LaunchesAfter(update);
    Finding& finding = failed.finding;
    if (failed.first != nullptr) return;
    failed.first = &update;
    finding.graph = update.graph;
    const std::string place = facts.places().Of(update.seq);
    AddEvidence(&finding,
                Say(trace, "exec {}, of {}, was to become {}{}", update.exec.value, runs,
                    update.graph, place.empty() ? "" : " " + place),
                StackAt(update));
    if (difference.what == GraphDifference::What::kNothing) {
      if (!update.node.valid()) return;
      finding.nodes.push_back(update.node);
      AddEvidence(&finding,
                  Say(trace, "CUDA names {}; what differs there isn't recorded", update.node),
                  trace[update.node].stack, {update.node});
      return;
    }
    const NodeId shown = difference.now.valid() ? difference.now : difference.old;
    finding.nodes.push_back(shown);
    AddEvidence(&finding, "the first difference: " + difference.text, trace[shown].stack, {shown});
    if (update.node.valid() && update.node != shown) {
      AddEvidence(&finding, "CUDA names " + NameOf(trace, update.node), {}, {update.node});
    }
  }

  // Launches of the exec that run what it had, until an update succeeds.
  size_t LaunchesAfter(const ExecUpdate& update) const {
    const auto end = trace.exec_updates.end();
    auto next = std::ranges::upper_bound(trace.exec_updates, update.seq, {}, &ExecUpdate::seq);
    next = std::ranges::find(next, end, update.exec, &ExecUpdate::exec);  // counts for itself
    const Seq until = next == end ? kNever : next->seq;
    return static_cast<size_t>(
        std::ranges::count_if(facts.exec_launches().Of(update.exec.index()), [&](uint32_t launch) {
          const Seq seq = trace.launches[launch].seq;
          return update.seq < seq && seq < until;
        }));
  }

  // The call's, where it is recorded as a failure.
  StackId StackAt(const ExecUpdate& update) const {
    const auto failure = std::ranges::lower_bound(trace.failures, update.seq, {}, &Failure::seq);
    if (failure == trace.failures.end() || failure->seq - update.seq > kFailureAfter) return {};
    const bool same = trace[failure->call].find("GraphExecUpdate") != std::string_view::npos;
    return same ? failure->stack : StackId();
  }

  Finding Describe(FailedUpdates failed) const {
    const auto result = static_cast<size_t>(failed.first->result);
    const ResultText& text = kResultTexts[result < std::size(kResultTexts) ? result : 0];
    Finding& finding = failed.finding;
    const auto& [first, count] = std::pair(failed.first, failed.count);
    finding.message = count == 1 ? Say(trace, "the update of exec {} to {} failed",
                                       first->exec.value, first->graph)
                                 : Say(trace, "{} of execs failed, the first to {}",
                                       Counted(count, "update"), first->graph);
    finding.message += Say(trace, " (cudaGraphExecUpdateError{}): {}", text.name, text.meaning);
    finding.advice = text.advice;
    finding.severity = failed.count >= kManyFailures ? Severity::kWarning : Severity::kNote;
    if (failed.stale_launches > 0) {
      finding.severity = Severity::kError;
      finding.message += Say(trace, "; it was launched {} after that, and ran the old graph",
                             Counted(failed.stale_launches, "time"));
      finding.advice = "instantiate the graph when an update fails; " + finding.advice;
    }
    return std::move(failed.finding);
  }

  static constexpr Seq kFailureAfter = 3;  // records from the update to the failure

  const Facts& facts;
  const Ran& trace = facts.trace;
  GraphDifferences differences = GraphDifferences(facts.trace);
  std::map<std::tuple<int32_t, GraphDifference::What, uint32_t>, FailedUpdates> found = {};
};

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
struct UpdateWalk {
  std::vector<Finding> Find() {
    if (trace.node_changes.empty() && trace.exec_updates.empty()) return {};
    using Row = std::variant<const NodeChange*, const ExecUpdate*, const Launch*>;
    std::vector<std::pair<Seq, Row>> rows;
    for (const NodeChange& change : trace.node_changes) rows.emplace_back(change.seq, &change);
    for (const ExecUpdate& update : trace.exec_updates) rows.emplace_back(update.seq, &update);
    for (const Launch& launch : trace.launches) rows.emplace_back(launch.seq, &launch);
    std::ranges::stable_sort(rows, {}, &std::pair<Seq, Row>::first);
    for (const auto& [seq, row] : rows) std::visit([this](auto* of) { Take(*of); }, row);
    std::vector<Finding> findings;
    for (const auto& [exec, pending] : by_exec) Judge(exec, pending, &findings);
    return findings;
  }

  void Take(const NodeChange& change) {
    if (!change.exec.valid() || change.what == NodeChangeKind::kUpdatable) return;
    PendingUpdates& pending = by_exec[change.exec];
    if (!pending.any()) pending.since = change.seq;
    const bool toggles = change.what != NodeChangeKind::kParams;
    if (!toggles) pending.Count(change.same, change.seq);
    const NodeChangeKind kind = toggles ? NodeChangeKind::kEnabled : NodeChangeKind::kParams;
    const auto [set, is_new] = pending.set.try_emplace({change.node, kind}, change.seq);
    if (!is_new) pending.Replace(1, change.seq);
  }
  void Take(const ExecUpdate& update) {
    if (update.result != 0) return;
    PendingUpdates& pending = by_exec[update.exec];
    pending.Count(update.same, update.seq);
    const size_t params = std::erase_if(pending.set, [](const auto& set) {  // switches stay
      return set.first.second == NodeChangeKind::kParams;
    });
    pending.Replace(params + (pending.updated ? 1 : 0), update.seq);
    pending.updated = true;
    pending.since = update.seq;
  }
  void Take(const Launch& launch) {
    const auto found = by_exec.find(launch.exec);
    if (found == by_exec.end() || !found->second.any()) return;
    found->second.launched = true;
    found->second.Clear();
  }

  void Judge(ExecId exec, const PendingUpdates& pending, std::vector<Finding>* findings) const {
    const std::string name = Say(trace, "exec {} of {}", exec.value, trace[exec].graph);
    Finding finding{.severity = Severity::kNote, .graph = trace[exec].graph};
    // One that waits for its next launch at the end is how programs that update end.
    const bool over = trace[exec].destroyed != kNever || KnowsWhatWasFreed(trace);
    if (pending.any() && !pending.launched && over) {
      finding.message = name + " was updated, and never launched since";
      finding.advice = "launch it after the update, or leave the update out";
      finding.evidence = {{.text = "it was updated " + facts.places().Of(pending.since)}};
      findings->push_back(finding);
    }
    if (pending.same != 0) {
      finding.message = std::to_string(pending.same) + " of " + Counted(pending.all, "update") +
                        " of " + name + " gave it the parameters that it had";
      finding.advice = "leave out an update that changes nothing";
      finding.evidence = {{.text = "the first was made " + facts.places().Of(pending.first_same)}};
      findings->push_back(finding);
    }
    if (pending.replaced == 0) return;
    finding.message = Counted(pending.replaced, "update") + " of " + name +
                      (pending.replaced == 1 ? " was" : " were") +
                      " replaced by another one before a launch";
    finding.advice = "update an exec once before each launch";
    finding.evidence = {
        {.text = "the first was replaced " + facts.places().Of(pending.first_replaced)}};
    findings->push_back(std::move(finding));
  }

  const Facts& facts;
  const Ran& trace = facts.trace;
  std::map<ExecId, PendingUpdates> by_exec = {};
};

// By graph, the last time that something was made of it: an exec, an update, a copy, the parameters
// of a child graph node.
std::vector<Seq> LastUses(const Ran& trace) {
  std::vector<Seq> last(trace.graphs.size());
  const auto use = [&](GraphId graph, Seq seq) {
    if (graph.valid()) last[graph.index()] = std::max(last[graph.index()], seq);
  };
  for (const Exec& exec : trace.execs) use(exec.graph, exec.created);
  for (const ExecUpdate& update : trace.exec_updates) use(update.graph, update.seq);
  for (const NodeChange& change : trace.node_changes) use(change.child, change.seq);
  for (const Graph& graph : trace.graphs) use(graph.original, graph.created);
  return last;
}

struct UnseenChanges {
  std::vector<const NodeChange*> changes;
  uint64_t launches = 0;  // that ran without one of them
};

// `changes`: of a graph's nodes, and of these nodes in execs: an exec that is given parameters of
// its own has them. `launches`: of the graph.
UnseenChanges FindUnseen(const Ran& trace, const std::vector<const NodeChange*>& changes,
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
    found.launches += now.empty() ? 0u : 1u;
    for (const auto& [node, set] : now) AddOnce(set, &found.changes);
  }
  return found;
}

// Launches of graphs that hold a copy of the graph (child graph nodes), and whose execs weren't
// given other parameters for the copy's nodes. `holder`: one of these graphs.
std::vector<uint32_t> LaunchesOfCopies(const Facts& facts, GraphId graph, GraphId* holder) {
  const Ran& trace = facts.trace;
  std::vector<uint32_t> all;
  for (const auto& [i, copy] : Enumerate(trace.graphs)) {
    const auto sets_it = [&, of = GraphId(i)](const NodeChange& change) {
      return change.exec.valid() && trace[change.node].graph == of;
    };
    if (copy.origin != GraphOrigin::kChild || copy.original != graph) continue;
    if (std::ranges::any_of(trace.node_changes, sets_it)) continue;
    *holder = facts.roots()[i];
    const auto& own = facts.launches()[holder->index()];
    all.insert(all.end(), own.begin(), own.end());
  }
  std::ranges::sort(all);
  return all;
}

// `holder`: a graph that holds a copy of this one, if its launches are meant.
Finding DescribeUnseen(const Ran& trace, GraphId root, GraphId holder,
                       const UnseenChanges& unseen) {
  Finding finding{.severity = Severity::kWarning, .graph = root};
  const std::string since = holder.valid()
                                ? " was set in the graph; the copy in " + NameOf(trace, holder) +
                                      " was made before, and wasn't set"
                                : " was set in the graph; no exec was made or updated of the graph "
                                  "since";
  for (const NodeChange* change : unseen.changes) {
    if (!AddOnce(change->node, &finding.nodes) || finding.evidence.size() >= kShownEvidence)
      continue;
    AddEvidence(&finding, NameOf(trace, change->node) + since, {}, {change->node});
    finding.evidence.push_back(CapturedThere(trace, change->node));
  }
  finding.message =
      Say(trace,
          "{} was given other parameters in {} after it was {}: {} was launched {} since, "
          "with the old ones",
          root, Counted(finding.nodes.size(), "node"),
          holder.valid() ? Say(trace, "embedded in {}", holder) : "instantiated",
          holder.valid() ? "that" : "it", Counted(unseen.launches, "time"));
  finding.advice =
      holder.valid()
          ? "set them in the exec (cudaGraphExecKernelNodeSetParams, … with the nodes of the graph "
            "that cudaGraphChildGraphNodeGetGraph returns; cudaGraphExecChildGraphNodeSetParams)"
          : "set them in the exec (cudaGraphExecKernelNodeSetParams, …), or update the exec from "
            "the graph (cudaGraphExecUpdate)";
  return finding;
}

// Nodes of graphs that were set, while the execs went on with what they had.
void FindUnseen(const Facts& facts, std::vector<Finding>* findings) {
  const Ran& trace = facts.trace;
  const std::vector<Seq> last_use = LastUses(trace);
  std::map<GraphId, std::vector<const NodeChange*>> set;
  for (const NodeChange& change : trace.node_changes) {
    if (change.what != NodeChangeKind::kParams) continue;
    const GraphId root = facts.RootOf(change.node);
    if (last_use[root.index()] != 0 && last_use[root.index()] < change.seq)
      set[root].push_back(&change);
  }
  if (set.empty()) return;
  for (const auto& [root, all] : set) {
    GraphId holder;
    UnseenChanges unseen = FindUnseen(trace, all, facts.launches()[root.index()]);
    if (unseen.launches == 0)
      unseen = FindUnseen(trace, all, LaunchesOfCopies(facts, root, &holder));
    if (unseen.launches != 0) findings->push_back(DescribeUnseen(trace, root, holder, unseen));
  }
}

}  // namespace

// exec-update-failed: updates of execs that CUDA refused, and what differs.
std::vector<Finding> FindFailedExecUpdates(const Facts& facts) {
  const auto failed = [](const ExecUpdate& update) { return update.result != 0; };
  if (std::ranges::none_of(facts.trace.exec_updates, failed)) return {};
  return FailureFinder{facts}.Find();
}

// update-without-effect: parameters that were set, or updated, and that no launch ran with, or that
// were there before.
std::vector<Finding> FindUpdatesWithoutEffect(const Facts& facts) {
  std::vector<Finding> findings;
  FindUnseen(facts, &findings);
  Append(UpdateWalk{facts}.Find(), &findings);
  return findings;
}

}  // namespace graphkit
