// Searches over a graph's edges, by marks on its nodes. The device's lock guards the marks, as all
// of a graph.
#include <algorithm>
#include <iterator>

#include "plugins/soft_cuda/model/graph.h"

namespace graphkit::soft {
uint32_t MarkAncestors(std::span<const Edge> from, bool full_only) {
  if (from.empty()) return ~0u;
  const uint32_t mark = ++from.front().node->graph->last_mark;
  std::vector<Node*> todo;
  auto visit = [&](const Edge& e) {
    if (e.node->mark == mark || (full_only && !IsFull(e.data))) return;
    e.node->mark = mark;
    todo.push_back(e.node);
  };
  for (const Edge& e : from) visit(e);
  while (!todo.empty()) {
    Node* node = todo.back();
    todo.pop_back();
    for (const Edge& e : node->in) visit(e);
  }
  return mark;
}

void VisitAncestors(std::span<const Edge> from, size_t limit, NodeVisitor visit) {
  if (from.empty()) return;
  const uint32_t mark = ++from.front().node->graph->last_mark;
  std::vector<Node*> order;  // nearest first
  auto add = [&](std::span<const Edge> edges) {
    for (const Edge& e : edges) {
      if (order.size() == limit || e.node->mark == mark || !IsFull(e.data)) continue;
      e.node->mark = mark;
      order.push_back(e.node);
    }
  };
  add(from);
  for (size_t i = 0; i < order.size(); ++i) {
    if (visit(*order[i])) return;
    add(order[i]->in);
  }
}

bool IsAncestorOrSelf(Node* ancestor, std::span<const Edge> from, bool full_only) {
  const uint32_t mark = MarkAncestors(from, full_only);
  return ancestor->mark == mark;
}

std::vector<Node*> ExecutionOrder(const Graph& graph) {
  std::vector<Node*> order;
  if (graph.ordered_by_index) {
    std::ranges::remove_copy(graph.nodes, std::back_inserter(order), nullptr);
    return order;
  }
  std::vector<size_t> missing(graph.nodes.size());
  for (Node* node : graph.nodes) {
    if (node == nullptr) continue;
    missing[node->position] = node->in.size();
    if (node->in.empty()) order.push_back(node);
  }
  for (size_t i = 0; i < order.size(); ++i) {
    for (const Edge& e : order[i]->out) {
      if (--missing[e.node->position] == 0) order.push_back(e.node);
    }
  }
  return order;
}

}  // namespace graphkit::soft
