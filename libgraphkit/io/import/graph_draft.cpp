#include "libgraphkit/io/import/graph_draft.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <utility>

#include "libgraphkit/model/names.h"

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

NodeId AddNode(const DraftNode& from, GraphId graph, TraceMaker& make) {
  Node node;
  node.graph = graph;
  node.kind = from.kind;
  node.conditional = from.conditional;
  node.source = Source::kImported;
  if (from.kind == NodeKind::kKernel) make.SetKernel(node, from.kernel, from.shape);
  if (from.kind == NodeKind::kEventRecord || from.kind == NodeKind::kEventWait) {
    node.event = make.Event(from.event);
  }
  const NodeId id = make.AddNode(node, from.tool_id);
  if (!from.label.empty()) make.SetLabel(id, from.label);
  return id;
}

// Tools' words for kinds beside the names in traces.
constexpr std::pair<std::string_view, NodeKind> kOtherWords[] = {
    {"CHILDGRAPH", NodeKind::kChildGraph}, {"SUBGRAPH", NodeKind::kChildGraph},
    {"WAITEVENT", NodeKind::kEventWait},   {"RECORDEVENT", NodeKind::kEventRecord},
    {"IF", NodeKind::kConditional},        {"WHILE", NodeKind::kConditional},
    {"SWITCH", NodeKind::kConditional},
};

}  // namespace

std::string WordOf(std::string_view name) {
  std::string word;
  for (const char c : name) {
    if (c == ' ' || c == '_') continue;
    word += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  if (word.ends_with("NODE") && word.size() > 4) word.resize(word.size() - 4);
  return word;
}

NodeKind KindNamed(std::string_view name) {
  static const std::map<std::string, NodeKind, std::less<>> kKinds = [] {
    std::map<std::string, NodeKind, std::less<>> kinds(std::begin(kOtherWords),
                                                       std::end(kOtherWords));
    const auto& names = Names<NodeKind>::value;
    for (size_t i = 0; i < names.size(); ++i) kinds[WordOf(names[i])] = static_cast<NodeKind>(i);
    return kinds;
  }();
  const std::string word = WordOf(name);
  if (const auto known = kKinds.find(word); known != kKinds.end()) return known->second;
  const bool semaphore = word.starts_with("EXT") && word.find("SEM") != std::string::npos;
  if (semaphore && word.ends_with("SIGNAL")) return NodeKind::kExternalSemaphoreSignal;
  if (semaphore && word.ends_with("WAIT")) return NodeKind::kExternalSemaphoreWait;
  return NodeKind::kUnknown;
}

Result<DraftedGraph> AddDraft(const GraphDraft& draft, TraceMaker& make) {
  std::vector<DraftEdge> edges = draft.edges;
  std::ranges::sort(edges);  // by `from`
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  const auto order = TopologicalOrder(draft.nodes.size(), edges);
  if (!order) {
    return Error{.message = "the edges of graph '" + draft.name + "' go round in a circle"};
  }
  DraftedGraph out;
  out.graph = make.AddGraph(draft.name, draft.tool_id);
  out.nodes.resize(draft.nodes.size());
  for (const uint32_t node : *order) {
    out.nodes[node] = AddNode(draft.nodes[node], out.graph, make);
  }
  for (const DraftEdge& edge : edges) {
    make.AddEdge(out.nodes[edge.from], out.nodes[edge.to], Source::kImported,
                 {.from_port = edge.from_port, .to_port = edge.to_port, .type = edge.type});
  }
  return out;
}

}  // namespace graphkit
