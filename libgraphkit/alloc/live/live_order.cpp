#include "libgraphkit/alloc/live/live_order.h"

namespace graphkit {
namespace {

constexpr GraphId kGraph{0u};

}  // namespace

bool LiveOrder::Enter(uint64_t node) {
  Open open{node, {}, 0};
  if (!edges_into_(node, &open.in)) return false;
  open_.push_back(std::move(open));
  return true;
}

// Mostly at the end: the node before is one of the last.
void LiveOrder::AddLoose(NodeId node) {
  const auto at = std::ranges::lower_bound(loose_, node);
  if (at == loose_.end() || *at != node) loose_.insert(at, node);
}

void LiveOrder::Add(const Open& open) {
  const NodeId id(order_.nodes());
  std::vector<InEdge> in;
  for (const LiveEdge& edge : open.in) {
    const NodeId from = ids_.at(edge.node);
    in.push_back({from, edge.full()});
    if (!edge.full() && order_.rule() == EdgeRule::kCompletion) AddLoose(from);
  }
  order_.Add(id, kGraph, {}, Ternary::kUnknown, in);
  ids_.emplace(open.node, id);
}

// Adds the node after all that it follows.
bool LiveOrder::Learn(uint64_t node) {
  if (ids_.contains(node)) return true;
  open_.clear();
  if (!Enter(node)) return false;
  while (!open_.empty()) {
    Open& top = open_.back();
    if (top.next < top.in.size()) {
      const uint64_t from = top.in[top.next++].node;
      if (!ids_.contains(from) && !Enter(from)) return false;
      continue;
    }
    if (!ids_.contains(top.node)) Add(top);
    open_.pop_back();
  }
  return true;
}

std::optional<OrderPoint> LiveOrder::PointAfter(std::span<const LiveEdge> frontier) {
  if (broken_) return {};
  if (!last_frontier_.empty() && std::ranges::equal(frontier, last_frontier_)) return last_point_;
  std::vector<FrontierEntry> entries;
  for (const LiveEdge& entry : frontier) {
    broken_ = !Learn(entry.node);
    if (broken_) return {};
    entries.push_back({ids_.at(entry.node), entry.from_port, entry.type});
  }
  last_frontier_.assign(frontier.begin(), frontier.end());
  last_point_ = order_.PointAfter(kGraph, entries);
  return last_point_;
}

// True if a loose node may still run when all of `ends` have ended.
bool LiveOrder::IsMarker(NodeId node, std::span<const NodeId> ends) const {
  return std::ranges::none_of(ends, [&](NodeId end) { return order_.EndsBefore(node, end); });
}

bool LiveOrder::AddMarkers(std::span<const LiveEdge> frontier, size_t since,
                           std::vector<NodeId>* markers) {
  if (!PointAfter(frontier)) return false;
  const auto add = [&](NodeId node) {
    if (std::ranges::find(*markers, node) == markers->end()) markers->push_back(node);
  };
  for (const LiveEdge& entry : frontier) add(ids_.at(entry.node));
  for (auto at = std::ranges::lower_bound(loose_, NodeId(since)); at != loose_.end(); ++at) {
    if (!IsMarker(*at, *markers)) continue;
    add(*at);
    if (markers->size() > kMostMarkers) return false;
  }
  return true;
}

}  // namespace graphkit
