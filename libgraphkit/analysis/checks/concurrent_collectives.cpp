// concurrent-collectives: NCCL operations that may run at once, where its own order was switched
// off: NCCL_GRAPH_MIXING_SUPPORT=0, of graphs that use one communicator, and
// NCCL_GRAPH_STREAM_ORDERING=0, of all communicators.
#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {
namespace {

// Operations that may not run at once: those on one communicator, or any.
struct Rule {
  const char* setting;
  bool all = false;
};

std::optional<Rule> RuleOf(const Process& process) {
  const auto has = [&](const char* setting) {
    return std::ranges::find(process.environment, setting) != process.environment.end();
  };
  if (has("NCCL_GRAPH_STREAM_ORDERING=0")) return Rule{"NCCL_GRAPH_STREAM_ORDERING=0", true};
  if (has("NCCL_GRAPH_MIXING_SUPPORT=0")) return Rule{"NCCL_GRAPH_MIXING_SUPPORT=0"};
  return std::nullopt;
}

class Finder {
 public:
  Finder(const Facts& facts, const Rule& rule)
      : facts_(facts), trace_(facts.trace), rule_(rule), collectives_(facts.collectives()) {}

  std::vector<Finding> Find() {
    if (collectives_.programs.empty()) return {};
    FindInGraphs();
    FindLaunches();
    return std::move(found_);
  }

 private:
  // Operations of several communicators; those of one are collective-order's.
  void FindInGraphs() {
    if (!rule_.all) return;
    for (const RankProgram& program : collectives_.programs) {
      if (!program.graph) continue;
      for (size_t i = 1; i < program.operations.size(); ++i) {
        const RankOperation &a = program.operations[i - 1], &b = program.operations[i];
        if (a.what.communicator == b.what.communicator || a.node == b.node) continue;
        if (facts_.order().Before(a.node, b.node)) continue;
        if (ExclusiveBodies(trace_, trace_[a.node].graph, trace_[b.node].graph) != 0) continue;
        Finding& finding =
            Add(program.graph, NameOf(trace_, a.node) + " and " + NameOf(trace_, b.node) + " of " +
                                   NameOf(trace_, program.graph));
        finding.nodes = {a.node, b.node};
        finding.evidence = {CapturedThere(trace_, a.node), CapturedThere(trace_, b.node)};
        break;
      }
    }
  }

  // Launches in their order: ordered where each is with the one before it on the communicator.
  void FindLaunches() {
    std::map<GraphId, std::vector<CommunicatorId>> uses;
    for (const RankProgram& program : collectives_.programs) {
      for (const RankOperation& operation : program.operations) {
        AddOnce(rule_.all ? CommunicatorId(0u) : operation.what.communicator, &uses[program.graph]);
      }
    }
    const LaunchOrder& order = facts_.launch_order();
    std::map<CommunicatorId, std::pair<uint32_t, GraphId>> last;
    std::map<std::pair<GraphId, GraphId>, bool> told;
    for (uint32_t i = 0; i < trace_.launches.size(); ++i) {
      const GraphId graph = facts_.ran()[i];
      if (!graph || !uses.contains(graph)) continue;
      for (const CommunicatorId communicator : uses[graph]) {
        const auto [at, is_new] = last.try_emplace(communicator, i, graph);
        const auto [before, other] = at->second;
        at->second = {i, graph};
        if (is_new || order.Before(before, i) ||
            !told.emplace(std::pair(other, graph), true).second)
          continue;
        Finding& finding =
            Add(graph, LaunchText(trace_, before, other) + " and " + LaunchText(trace_, i, graph));
        if (order.BeforeByThreads(before, i)) DoubtThreads(&finding);
        finding.streams = {trace_.launches[before].stream, trace_.launches[i].stream};
      }
    }
  }

  Finding& Add(GraphId graph, const std::string& both) {
    Finding& finding = found_.emplace_back();
    finding.severity = Severity::kError;
    finding.graph = graph;
    finding.message = both + " may run operations" +
                      (rule_.all ? " of NCCL" : " on one communicator") + " at once, which " +
                      rule_.setting + " doesn't allow";
    finding.advice = "launch them on one stream, order them by an event, or leave that setting out";
    return finding;
  }

  const Facts& facts_;
  const Trace& trace_;
  const Rule rule_;
  const RankCollectives& collectives_;
  std::vector<Finding> found_;
};

}  // namespace

std::vector<Finding> FindConcurrentCollectives(const Facts& facts) {
  const std::optional<Rule> rule = RuleOf(facts.trace.process);
  if (!rule || facts.trace.collectives.empty()) return {};
  return Finder(facts, *rule).Find();
}

}  // namespace graphkit
