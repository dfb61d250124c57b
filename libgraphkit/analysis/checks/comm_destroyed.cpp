// comm-destroyed: a communicator that was destroyed while a graph that uses it was still there, or
// was even launched again.
#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {
namespace {

// The first node of each root graph that uses a communicator which was destroyed.
std::map<std::pair<GraphId, CommunicatorId>, NodeId> FindUsers(const Facts& facts) {
  const Trace& trace = facts.trace;
  std::map<std::pair<GraphId, CommunicatorId>, NodeId> users;
  for (const Collective& collective : trace.collectives) {
    if (trace[collective.communicator].destroyed == kNever) continue;
    const auto node = std::ranges::lower_bound(trace.nodes, collective.seq, {}, &Node::seq);
    if (node == trace.nodes.end() || node->seq != collective.seq || !InGraph(trace, *node)) {
      continue;
    }
    const GraphId root = facts.roots()[node->graph.index()];
    users.try_emplace({root, collective.communicator},
                      static_cast<size_t>(node - trace.nodes.begin()));
  }
  return users;
}

class Judge {
 public:
  explicit Judge(const Facts& facts) : trace_(facts.trace), launches_(facts.launches()) {}

  Finding Of(GraphId graph, CommunicatorId communicator, NodeId node) const {
    Finding finding;
    const Seq end = trace_[communicator].destroyed;
    const auto after = std::ranges::count_if(launches_[graph.index()], [&](uint32_t launch) {
      return trace_.launches[launch].seq > end;
    });
    const bool there = IsThere(graph, end);
    if (after == 0 && !there) return finding;
    finding.graph = graph;
    finding.nodes = {node};
    finding.evidence = {CapturedThere(trace_, node)};
    const std::string what = "communicator " + std::to_string(communicator.value) + " of " +
                             Count(trace_[communicator].ranks, "rank");
    if (after > 0) {
      finding.severity = Severity::kError;
      finding.message = NameOf(trace_, graph) + " was launched " +
                        Count(static_cast<uint64_t>(after), "time") + " after " + what +
                        " was destroyed, which " + NameOf(trace_, node) + " uses";
    } else {
      finding.severity = Severity::kWarning;
      finding.message = what + " was destroyed before " + NameOf(trace_, graph) + ", whose " +
                        NameOf(trace_, node) + " uses it: NCCL waits for the graph's end there";
    }
    finding.advice =
        "destroy graphs and their execs before the communicators that they use: in "
        "PyTorch, reset() or delete each CUDAGraph before destroy_process_group()";
    return finding;
  }

 private:
  // True if the graph, or an exec that ran it last, is there at a place of the trace.
  bool IsThere(GraphId graph, Seq at) const {
    const auto lives = [at](const auto& thing) {
      return thing.created < at && thing.destroyed > at;
    };
    if (lives(trace_[graph])) return true;
    std::map<ExecId, GraphId> updated;
    for (const ExecUpdate& update : trace_.exec_updates) {
      if (update.result == 0 && update.seq < at) updated[update.exec] = update.graph;
    }
    for (size_t i = 0; i < trace_.execs.size(); ++i) {
      const auto now = updated.find(ExecId(i));
      const GraphId runs = now == updated.end() ? trace_.execs[i].graph : now->second;
      if (runs == graph && lives(trace_.execs[i])) return true;
    }
    return false;
  }

  const Trace& trace_;
  const std::vector<std::vector<uint32_t>>& launches_;
};

}  // namespace

std::vector<Finding> FindDestroyedComms(const Facts& facts) {
  const auto users = FindUsers(facts);
  std::vector<Finding> findings;
  if (users.empty()) return findings;
  const Judge judge(facts);
  for (const auto& [user, node] : users) {
    Finding finding = judge.Of(user.first, user.second, node);
    if (!finding.message.empty()) findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace graphkit
