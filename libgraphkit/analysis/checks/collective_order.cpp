// collective-order: operations on one communicator that nothing orders in a graph, and ranks of one
// process that don't run theirs in one order. The ranks of many traces: launches/collectives.h.
#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {
namespace {

// Operations of a graph stand in an order that its edges allow: they are ordered where each is with
// the one before it.
Finding FindUnordered(const Facts& facts, const RankProgram& program) {
  const Trace& trace = facts.trace;
  Finding finding;
  finding.severity = Severity::kError;
  finding.graph = program.graph;
  std::map<CommunicatorId, NodeId> last;
  uint64_t pairs = 0;
  for (const RankOperation& operation : program.operations) {
    const auto [at, is_new] = last.try_emplace(operation.what.communicator, operation.node);
    const NodeId before = at->second;
    at->second = operation.node;
    if (is_new || before == operation.node || facts.order().Before(before, operation.node))
      continue;
    if (ExclusiveBodies(trace, trace[before].graph, trace[operation.node].graph) != 0) continue;
    if (pairs++ > 0) continue;
    finding.nodes = {before, operation.node};
    finding.evidence = {CapturedThere(trace, before), CapturedThere(trace, operation.node)};
    finding.message = NameOf(trace, before) + " and " + NameOf(trace, operation.node) + " of " +
                      NameOf(trace, program.graph) +
                      " are operations on one communicator, and no edge orders them";
  }
  if (pairs > 1) finding.message += "; the same of " + Count(pairs - 1, "more pair");
  finding.advice =
      "order them by an event, or leave NCCL_GRAPH_STREAM_ORDERING at 1, so that NCCL does";
  return finding;
}

}  // namespace

std::vector<Finding> FindCollectiveOrders(const Facts& facts) {
  const RankCollectives& collectives = facts.collectives();
  if (collectives.programs.empty()) return {};
  std::vector<Finding> findings = CompareOwnRanks(collectives, "collective-order");
  const std::vector<bool>& never_run = facts.never_run();
  for (const RankProgram& program : collectives.programs) {
    if (!program.graph || never_run[program.graph.index()]) continue;
    Finding finding = FindUnordered(facts, program);
    if (!finding.message.empty()) findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace graphkit
