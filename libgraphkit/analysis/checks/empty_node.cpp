// empty-node: empty nodes that save no edges.
#include "libgraphkit/analysis/checks/find.h"

namespace graphkit {

// An empty node with several edges on both sides saves edges; with one or none it does nothing.
std::vector<Finding> FindEmptyNodes(const Facts& facts) {
  const Trace& trace = facts.trace;
  std::vector<uint32_t> out(trace.nodes.size());
  for (const InEdge& edge : facts.in_edges().edges) ++out[edge.from.index()];
  std::vector<std::vector<NodeId>> empty(trace.graphs.size());
  for (size_t i = 0; i < trace.nodes.size(); ++i) {
    const Node& node = trace.nodes[i];
    if (node.kind != NodeKind::kEmpty || !InGraph(trace, node)) continue;
    if (facts.in_edges().Of(i).size() <= 1 || out[i] <= 1)
      empty[node.graph.index()].emplace_back(i);
  }
  return FindByGraph(facts, [&](GraphId graph, Finding* finding) {
    finding->nodes = std::move(empty[graph.index()]);
    if (finding->nodes.empty()) return;
    for (const NodeId node :
         std::span(finding->nodes).first(std::min(finding->nodes.size(), kShownEvidence))) {
      finding->evidence.push_back(CapturedThere(trace, node));
    }
    finding->message = Count(finding->nodes.size(), "empty node") + " of " + NameOf(trace, graph) +
                       " could be left out without more edges";
    finding->advice = "connect the node before it with the nodes after it";
  });
}

}  // namespace graphkit
