#include "libgraphkit/io/import/graph_draft.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <queue>

namespace graphkit {
namespace {

// Of the nodes whose predecessors are all there, always the first listed one.
std::optional<std::vector<uint32_t>> TopologicalOrder(size_t nodes,
                                                      const std::vector<DraftEdge>& edges) {
  std::vector<uint32_t> missing(nodes);
  std::vector<uint32_t> first(nodes + 1);
  for (const DraftEdge& edge : edges) {
    ++missing[edge.to];
    ++first[edge.from + 1];
  }
  for (size_t i = 0; i < nodes; ++i) first[i + 1] += first[i];
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
  for (uint32_t i = 0; i < nodes; ++i) {
    if (missing[i] == 0) ready.push(i);
  }
  std::vector<uint32_t> order;
  while (!ready.empty()) {
    const uint32_t node = ready.top();
    ready.pop();
    order.push_back(node);
    for (uint32_t e = first[node]; e < first[node + 1]; ++e) {
      if (--missing[edges[e].to] == 0) ready.push(edges[e].to);
    }
  }
  if (order.size() < nodes) return std::nullopt;
  return order;
}

class Adder {
 public:
  Adder(const GraphDraft& draft, TraceMaker& make) : draft_(draft), make_(make) {}

  Result<DraftedGraph> Run() {
    std::vector<DraftEdge> edges = draft_.edges;
    std::ranges::sort(edges);  // by `from`
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    const auto order = TopologicalOrder(draft_.nodes.size(), edges);
    if (!order) {
      return Error{.message = "the edges of graph '" + draft_.name + "' go round in a circle"};
    }
    out_.graph = make_.AddGraph(draft_.name, draft_.tool_id);
    out_.nodes.resize(draft_.nodes.size());
    for (const uint32_t node : *order) out_.nodes[node] = AddNode(draft_.nodes[node]);
    for (const DraftEdge& edge : edges) {
      make_.AddEdge(out_.nodes[edge.from], out_.nodes[edge.to], Source::kImported, edge.from_port,
                    edge.type);
    }
    return std::move(out_);
  }

 private:
  NodeId AddNode(const DraftNode& from) {
    Node node;
    node.graph = out_.graph;
    node.kind = from.kind;
    node.conditional = from.conditional;
    node.source = Source::kImported;
    if (from.kind == NodeKind::kKernel) {
      node.kernel = make_.Kernel(from.kernel.empty() ? "unknown kernel" : from.kernel);
      node.shape = make_.Shape(from.shape);
    }
    if (from.kind == NodeKind::kEventRecord || from.kind == NodeKind::kEventWait) {
      node.event = make_.Event(from.event);
    }
    const NodeId id = make_.AddNode(node);
    if (from.tool_id != 0) make_.tool_ids[id] = from.tool_id;
    return id;
  }

  const GraphDraft& draft_;
  TraceMaker& make_;
  DraftedGraph out_;
};

}  // namespace

Result<DraftedGraph> AddDraft(const GraphDraft& draft, TraceMaker& make) {
  return Adder(draft, make).Run();
}

}  // namespace graphkit
