// exec-update-failed: updates of execs that CUDA refused, and what differs.
#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/order/graph_difference.h"

namespace graphkit {
namespace {

constexpr size_t kManyFailures =
    3;  // failures alike: the program pays for an instantiation each time

// CUgraphExecUpdateResult.
enum UpdateResult : int32_t {
  kError = 1,
  kTopologyChanged,
  kNodeTypeChanged,
  kFunctionChanged,
  kParametersChanged,
  kNotSupported,
  kUnsupportedFunctionChange,
  kAttributesChanged,
};

struct ResultText {
  const char* name;  // after cudaGraphExecUpdateError
  const char* meaning;
  const char* advice;
};

ResultText TextOf(int32_t result) {
  switch (result) {
    case kTopologyChanged:
      return {"TopologyChanged", "nodes or edges differ",
              "capture the same calls in the same order each time, or instantiate a graph of "
              "another shape on its own"};
    case kNodeTypeChanged:
      return {"NodeTypeChanged", "a node is of another type",
              "capture the same calls in the same order each time, or instantiate a graph of "
              "another shape on its own"};
    case kFunctionChanged:
      return {"FunctionChanged", "a kernel's function differs, which drivers before 11.2 refuse",
              "use a later driver, or keep an exec for each function"};
    case kParametersChanged:
      return {"ParametersChanged", "a parameter differs that an update can't set",
              "keep it as it was (a copy's kinds of memory, an allocation's size, the shape of a "
              "copy or memset of several rows), or instantiate the graph on its own"};
    case kNotSupported:
      return {"NotSupported", "something about the node can't be updated",
              "leave memory nodes and kernels that devices update out of graphs that are updated, "
              "or instantiate the graph on its own"};
    case kUnsupportedFunctionChange:
      return {"UnsupportedFunctionChange",
              "a kernel's function changes in a way that isn't allowed",
              "keep a kernel node's context, and don't change to a kernel that launches others"};
    case kAttributesChanged:
      return {"AttributesChanged", "a kernel's attributes differ",
              "launch with the same attributes (cooperative, cluster, priority) each time"};
    default:
      return {"", "CUDA doesn't say why", "check that the graph is whole and not being captured"};
  }
}

struct FailedUpdates {
  Finding finding = {};
  size_t count = 0;
  size_t stale_launches = 0;
  const ExecUpdate* first = nullptr;
};

class FailureFinder {
 public:
  explicit FailureFinder(const Facts& facts)
      : facts_(facts), trace_(facts.trace), differences_(trace_) {
    for (const Launch& launch : trace_.launches) launches_[launch.exec].push_back(launch.seq);
    for (const ExecUpdate& update : trace_.exec_updates)
      updates_[update.exec].push_back(update.seq);
  }

  std::vector<Finding> Find() {
    std::map<ExecId, std::pair<GraphId, Seq>> runs;  // what an exec runs, and how it was when
    for (const ExecUpdate& update : trace_.exec_updates) {
      if (!update.exec.valid() || !update.graph.valid()) continue;
      const Exec& exec = trace_[update.exec];
      const auto run = runs.try_emplace(update.exec, exec.graph, exec.created).first;
      if (update.result == 0) {
        run->second = {update.graph, update.seq};
      } else if (run->second.first.valid()) {
        Add(update, run->second.first, run->second.second);
      }
    }
    std::vector<Finding> findings;
    for (auto& [key, failed] : found_) findings.push_back(Describe(std::move(failed)));
    return findings;
  }

 private:
  void Add(const ExecUpdate& update, GraphId runs, Seq since) {
    const GraphDifference difference =
        differences_.First(runs, since, update.graph, update.seq, update.node);
    FailedUpdates& failed = found_[{update.result, difference.what, difference.place}];
    ++failed.count;
    failed.stale_launches += LaunchesAfter(update);
    Finding& finding = failed.finding;
    if (failed.first != nullptr) return;
    failed.first = &update;
    finding.graph = update.graph;
    const std::string place = facts_.places().Of(update.seq);
    finding.evidence.push_back({.text = "exec " + std::to_string(update.exec.value) + ", of " +
                                        NameOf(trace_, runs) + ", was to become " +
                                        NameOf(trace_, update.graph) +
                                        (place.empty() ? "" : " " + place),
                                .stack = StackAt(update)});
    if (difference.what == GraphDifference::What::kNothing) {
      if (!update.node.valid()) return;
      finding.nodes.push_back(update.node);
      finding.evidence.push_back({.text = "CUDA names " + NameOf(trace_, update.node) +
                                          "; what differs there isn't recorded",
                                  .nodes = {update.node},
                                  .stack = trace_[update.node].stack});
      return;
    }
    const NodeId shown = difference.now.valid() ? difference.now : difference.old;
    finding.nodes.push_back(shown);
    finding.evidence.push_back({.text = "the first difference: " + difference.text,
                                .nodes = {shown},
                                .stack = trace_[shown].stack});
    if (update.node.valid() && update.node != shown) {
      finding.evidence.push_back(
          {.text = "CUDA names " + NameOf(trace_, update.node), .nodes = {update.node}});
    }
  }

  // Launches of the exec that run what it had, until an update succeeds.
  size_t LaunchesAfter(const ExecUpdate& update) const {
    const auto found = launches_.find(update.exec);
    if (found == launches_.end()) return 0;
    const std::vector<Seq>& updates = updates_.at(update.exec);
    const auto next = std::ranges::upper_bound(updates, update.seq);  // counts for itself
    const Seq until = next == updates.end() ? kNever : *next;
    const auto begin = std::ranges::upper_bound(found->second, update.seq);
    return static_cast<size_t>(std::lower_bound(begin, found->second.end(), until) - begin);
  }

  // The call's, where it is recorded as a failure.
  StackId StackAt(const ExecUpdate& update) const {
    const auto failure = std::ranges::lower_bound(trace_.failures, update.seq, {}, &Failure::seq);
    if (failure == trace_.failures.end() || failure->seq - update.seq > kFailureAfter) return {};
    const bool same = trace_[failure->call].find("GraphExecUpdate") != std::string_view::npos;
    return same ? failure->stack : StackId();
  }

  Finding Describe(FailedUpdates failed) const {
    const ResultText text = TextOf(failed.first->result);
    Finding& finding = failed.finding;
    finding.message = failed.count == 1
                          ? "the update of exec " + std::to_string(failed.first->exec.value) +
                                " to " + NameOf(trace_, failed.first->graph) + " failed"
                          : Count(failed.count, "update") + " of execs failed, the first to " +
                                NameOf(trace_, failed.first->graph);
    finding.message += " (cudaGraphExecUpdateError" + std::string(text.name) + "): " + text.meaning;
    finding.advice = text.advice;
    finding.severity = failed.count >= kManyFailures ? Severity::kWarning : Severity::kNote;
    if (failed.stale_launches > 0) {
      finding.severity = Severity::kError;
      finding.message += "; it was launched " + Count(failed.stale_launches, "time") +
                         " after that, and ran the old graph";
      finding.advice = "instantiate the graph when an update fails; " + finding.advice;
    }
    return std::move(failed.finding);
  }

  static constexpr Seq kFailureAfter = 3;  // records from the update to the failure

  const Facts& facts_;
  const Trace& trace_;
  GraphDifferences differences_;
  std::map<ExecId, std::vector<Seq>> launches_, updates_;
  std::map<std::tuple<int32_t, GraphDifference::What, uint32_t>, FailedUpdates> found_;
};

}  // namespace

std::vector<Finding> FindFailedExecUpdates(const Facts& facts) {
  const auto failed = [](const ExecUpdate& update) { return update.result != 0; };
  if (std::ranges::none_of(facts.trace.exec_updates, failed)) return {};
  return FailureFinder(facts).Find();
}

}  // namespace graphkit
