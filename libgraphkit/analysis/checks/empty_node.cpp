// empty-node: empty nodes that save no edges.
#include "libgraphkit/analysis/checks/find.h"
#include "libgraphkit/analysis/names/naming.h"

namespace graphkit {

namespace {

constexpr size_t kShownNodes = 3;

}  // namespace

// An empty node with several edges on both sides saves edges; with one or none it does nothing.
std::vector<Finding> FindEmptyNodes(const Facts& facts) {
  const Trace& trace = facts.trace;
  std::vector<uint32_t> out(trace.nodes.size());
  for (const InEdge& edge : facts.in_edges.edges) ++out[edge.from.index()];
  std::vector<Finding> by_graph(trace.graphs.size());
  for (size_t i = 0; i < trace.nodes.size(); ++i) {
    const Node& node = trace.nodes[i];
    if (node.kind != NodeKind::kEmpty || !InGraph(trace, node)) continue;
    if (facts.in_edges.Of(i).size() > 1 && out[i] > 1) continue;
    Finding& finding = by_graph[node.graph.index()];
    finding.graph = node.graph;
    finding.nodes.emplace_back(i);
    if (finding.evidence.size() < kShownNodes) {
      finding.evidence.push_back(
          {.text = CapturedOn(trace, NodeId(i)), .nodes = {NodeId(i)}, .stack = node.stack});
    }
  }
  std::vector<Finding> findings;
  for (Finding& finding : by_graph) {
    if (finding.nodes.empty()) continue;
    finding.message = Count(finding.nodes.size(), "empty node") + " of " +
                      NameOf(trace, finding.graph) + " could be left out without more edges";
    finding.advice = "connect the node before it with the nodes after it";
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace graphkit
