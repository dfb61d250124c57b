#include "libgraphkit/analysis/checks/find.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "libgraphkit/analysis/names/naming.h"

namespace graphkit {

bool KnowsWhatWasFreed(const Trace& trace) {
  return !trace.completeness.truncated && trace.process.device != DeviceKind::kImported;
}

std::vector<bool> InvalidatedGraphs(const Trace& trace) {
  std::vector<bool> invalidated(trace.graphs.size());
  for (const Capture& capture : trace.captures) {
    if (capture.status != CaptureStatus::kInvalidated || !capture.graph.valid()) continue;
    invalidated[capture.graph.index()] = true;
  }
  return invalidated;
}

std::vector<bool> NeverRun(const Trace& trace) {
  std::vector<bool> never(trace.graphs.size());
  if (!KnowsWhatWasFreed(trace)) return never;
  for (size_t i = 0; i < never.size(); ++i) {
    if (trace.graphs[i].destroyed != kNever) never[i] = true;
    if (trace.graphs[i].original.valid()) never[trace.graphs[i].original.index()] = true;
  }
  for (const Exec& exec : trace.execs) {
    if (exec.graph.valid()) never[exec.graph.index()] = false;
  }
  return never;
}

Evidence ProofPath(const Facts& facts, NodeId from, NodeId to) {
  Evidence evidence;
  evidence.nodes = ShortestPath(facts.order, facts.in_edges, from, to);
  if (evidence.nodes.empty()) {
    evidence.nodes = {from, to};
    evidence.text = NameOf(facts.trace, from) + " is before " + NameOf(facts.trace, to) +
                    ", through the graphs that hold them";
    return evidence;
  }
  constexpr size_t kShown = 6;
  for (size_t i = 0; i < evidence.nodes.size(); ++i) {
    const bool skipped =
        evidence.nodes.size() > kShown && i >= kShown / 2 && i + kShown / 2 < evidence.nodes.size();
    if (skipped && i > kShown / 2) continue;
    if (i > 0) evidence.text += " -> ";
    evidence.text += skipped ? "..." : NameOf(facts.trace, evidence.nodes[i]);
  }
  return evidence;
}

// Backwards from `to`, only through nodes that end after `from`.
std::vector<NodeId> ShortestPath(const Order& order, const InEdges& in, NodeId from, NodeId to,
                                 size_t limit) {
  std::unordered_map<uint32_t, NodeId> next;  // of each node reached, the way to `to`
  std::vector<NodeId> open = {to};
  next.emplace(to.value, NodeId());
  for (size_t at = 0; at < open.size() && at < limit; ++at) {
    const NodeId node = open[at];
    if (node == from) break;
    for (const InEdge& edge : in.Of(node.index())) {
      if (!order.EndsBefore(from, edge.from)) continue;
      if (next.emplace(edge.from.value, node).second) open.push_back(edge.from);
    }
  }
  std::vector<NodeId> path;
  if (!next.contains(from.value)) return path;
  for (NodeId node = from; node.valid(); node = next.at(node.value)) path.push_back(node);
  return path;
}

namespace {

std::string More(const Finding& finding) {
  if (finding.blocks.size() == 1) return {};
  return "; the same in " + Count(finding.blocks.size() - 1, "other block");
}

}  // namespace

void AddRace(const Facts& facts, const Race& race, Finding* finding) {
  const Trace& trace = facts.trace;
  finding->graph = facts.roots[trace[race.earlier].graph.index()];
  const auto has = [](const auto& list, auto item) {
    return std::find(list.begin(), list.end(), item) != list.end();
  };
  if (!has(finding->blocks, race.block)) {
    finding->blocks.push_back(race.block);
    finding->bytes += RoundedSize(trace[race.block]);
  }
  for (const NodeId node : {race.earlier, race.later}) {
    if (has(finding->nodes, node)) continue;
    finding->nodes.push_back(node);
    if (finding->evidence.size() >= 4) continue;
    finding->evidence.push_back({.text = CapturedOn(trace, node),
                                 .nodes = {node},
                                 .blocks = {race.block},
                                 .stack = trace[node].stack});
  }
}

RaceSite SiteOf(const Facts& facts, const Race& race, Severity severity) {
  const Node& earlier = facts.trace[race.earlier];
  const Node& later = facts.trace[race.later];
  return {facts.roots[earlier.graph.index()], severity, earlier.kernel, later.kernel};
}

std::vector<Finding> TakeFindings(std::map<RaceSite, Finding>* by_site) {
  std::vector<Finding> findings;
  for (auto& [site, finding] : *by_site) {
    finding.severity = std::get<1>(site);
    finding.message += More(finding);
    finding.assumes = Assumption::kArguments;
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace graphkit
