#include "tests/analysis/order/slow_order.h"

#include <algorithm>

namespace graphkit {

SlowOrder::SlowOrder(const Ran& trace, EdgeRule rule, Ternary unknown)
    : rule_(rule), next_(2 * trace.nodes.size()), reached_(2 * trace.nodes.size()) {
  for (size_t i = 0; i < trace.nodes.size(); ++i) {
    const NodeId node(i);
    next_[Start(node)].push_back(End(node));
    const NodeId holder = trace[trace[node].graph].parent;
    if (!holder.valid()) continue;
    next_[Start(holder)].push_back(Start(node));
    next_[End(node)].push_back(End(holder));
  }
  for (const EdgeId id : trace.graph_edges) {
    const Edge& edge = trace[id];
    if (edge.full() || rule == EdgeRule::kAllFull) {
      next_[End(edge.from)].push_back(Start(edge.to));
      continue;
    }
    next_[Start(edge.from)].push_back(Start(edge.to));
    const KernelId kernel = trace[edge.to].kernel;
    const Ternary waits = kernel.valid() ? trace[kernel].waits : Ternary::kUnknown;
    if ((waits == Ternary::kUnknown ? unknown : waits) == Ternary::kYes) {
      next_[End(edge.from)].push_back(End(edge.to));
    }
  }
  for (size_t event = 0; event < next_.size(); ++event) Search(event);
}

void SlowOrder::Search(size_t from) {
  std::vector<bool>& reached = reached_[from];
  reached.assign(next_.size(), false);
  std::vector<size_t> open = next_[from];
  while (!open.empty()) {
    const size_t event = open.back();
    open.pop_back();
    if (reached[event]) continue;
    reached[event] = true;
    open.insert(open.end(), next_[event].begin(), next_[event].end());
  }
}

bool SlowOrder::BeforeWithoutEdge(NodeId a, NodeId b) const {
  return std::any_of(next_[End(a)].begin(), next_[End(a)].end(),
                     [&](size_t event) { return event != Start(b) && Reaches(event, Start(b)); });
}

bool SlowOrder::Before(NodeId a, const std::vector<FrontierEntry>& frontier) const {
  return std::any_of(frontier.begin(), frontier.end(), [&](const FrontierEntry& entry) {
    const bool full =
        rule_ == EdgeRule::kAllFull || (entry.from_port == kPortDefault && entry.edge_type == 0);
    return full ? EndsBefore(a, entry.node) : Before(a, entry.node);
  });
}

}  // namespace graphkit
