#include "libgraphkit/analysis/checks/find.h"

#include <memory>
#include <unordered_map>

namespace graphkit {

std::vector<Finding> FindByGraph(const Facts& facts,
                                 const std::function<void(GraphId, Finding*)>& judge) {
  std::vector<std::unique_ptr<Finding>> by_graph(facts.trace.graphs.size());
  ForEachGraph(facts.trace, facts.blocks(), [&](GraphId graph) {
    Finding finding{.graph = graph};
    judge(graph, &finding);
    if (finding.message.empty()) return;
    by_graph[graph.index()] = std::make_unique<Finding>(std::move(finding));
  });
  std::vector<Finding> findings;
  for (const std::unique_ptr<Finding>& finding : by_graph) {
    if (finding) findings.push_back(std::move(*finding));
  }
  return findings;
}

void AddBlock(const Trace& trace, BlockId block, Finding* finding) {
  finding->blocks.push_back(block);
  finding->bytes += RoundedSize(trace[block]);
}

std::string BlocksText(const Finding& finding) {
  return ListOf(finding.blocks) + " (" + FormatBytes(finding.bytes) + ")";
}

Evidence CapturedThere(const Trace& trace, NodeId node) {
  return {.text = CapturedOn(trace, node), .nodes = {node}, .stack = trace[node].stack};
}

Evidence CopyEvidence(const Trace& trace, const HostCopy& copy) {
  return {.text = NameOf(trace, copy.node) + " " + HostCopyText(copy.end),
          .nodes = {copy.node},
          .stack = trace[copy.node].stack};
}

Evidence AllocatedThere(const Facts& facts, BlockId block) {
  const Trace& trace = facts.trace;
  return {
      .text = NameOf(trace, block) + " was allocated " + facts.places().Of(trace[block].allocated),
      .blocks = {block},
      .stack = trace[block].stack};
}

namespace {

// Nodes from `from` to `to`, both included, each joined to the next by an edge, as few as there can
// be: searched backwards, only through nodes that end after `from`. Empty when there is no path
// inside one graph, or too much was looked at.
std::vector<NodeId> ShortestPath(const Order& order, const InEdges& in, NodeId from, NodeId to) {
  constexpr size_t kMostNodes = 100'000;
  std::unordered_map<uint32_t, NodeId> next;  // of each node reached, the way to `to`
  std::vector<NodeId> open = {to};
  next.emplace(to.value, NodeId());
  for (size_t at = 0; at < open.size() && at < kMostNodes; ++at) {
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

}  // namespace

Evidence ProofPath(const Facts& facts, NodeId from, NodeId to) {
  Evidence evidence;
  evidence.nodes = ShortestPath(facts.order(), facts.in_edges(), from, to);
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

void AddRace(const Facts& facts, const Race& race, Finding* finding) {
  const Trace& trace = facts.trace;
  finding->graph = facts.RootOf(race.earlier);
  if (AddOnce(race.block, &finding->blocks)) finding->bytes += RoundedSize(trace[race.block]);
  for (const NodeId node : {race.earlier, race.later}) {
    if (!AddOnce(node, &finding->nodes) || finding->evidence.size() >= 4) continue;
    finding->evidence.push_back(CapturedThere(trace, node));
    finding->evidence.back().blocks = {race.block};
  }
}

RaceSite SiteOf(const Facts& facts, const Race& race, Severity severity) {
  const Node& earlier = facts.trace[race.earlier];
  const Node& later = facts.trace[race.later];
  return {facts.roots()[earlier.graph.index()], severity, earlier.kernel, later.kernel};
}

std::vector<Finding> TakeFindings(std::map<RaceSite, Finding>* by_site) {
  std::vector<Finding> findings;
  for (auto& [site, finding] : *by_site) {
    finding.severity = std::get<1>(site);
    if (const size_t more = finding.blocks.size() - 1; more > 0) {
      finding.message += "; the same in " + Count(more, "other block");
    }
    finding.assumes = Assumption::kArguments;
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace graphkit
