// A capture as a driver has it: nodes under handles, and where each stream stands. Beside it the
// same graph as a trace, for the slow order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "libgraphkit/ran/resolve.h"
#include "plugins/torch_allocator/live_pool.h"
#include "tests/analysis/order/slow_order.h"

namespace graphkit {

class LiveGraph {
 public:
  using Frontier = std::vector<LiveEdge>;

  explicit LiveGraph(size_t streams, EdgeRule rule = EdgeRule::kCompletion, uint64_t id = 1)
      : id_(id),
        frontiers_(streams),
        order_(rule, [this](uint64_t node, Frontier* in) { return EdgesInto(node, in); }) {
    trace_.graphs.resize(1);
  }
  LiveGraph(const LiveGraph&) = delete;
  LiveGraph& operator=(const LiveGraph&) = delete;

  // A stream's next node, which follows its frontier. `early`: by programmatic edges.
  size_t Launch(size_t stream, bool early = false) {
    Frontier in = frontiers_[stream];
    if (early) {
      for (LiveEdge& edge : in) edge = {edge.node, kPortProgrammatic, 1};
    }
    const size_t node = AddNode(in);
    frontiers_[stream] = {{Handle(node)}};
    return node;
  }

  // The stream waits for all that the other one has done.
  void Wait(size_t stream, size_t other) {
    const Frontier added = frontiers_[other];
    Frontier& at = frontiers_[stream];
    for (const LiveEdge& entry : added) {
      if (std::ranges::find(at, entry) == at.end()) at.push_back(entry);
    }
  }

  // Edges into this node can't be had.
  void Hide(size_t node) { in_.erase(Handle(node)); }

  Frontier& frontier(size_t stream) { return frontiers_[stream]; }
  LiveOrder& order() { return order_; }
  uint64_t id() const { return id_; }
  size_t streams() const { return frontiers_.size(); }
  size_t nodes() const { return trace_.nodes.size(); }
  const std::map<uint64_t, int>& asked() const { return asked_; }  // how often, by handle

  LiveAsker Asker(size_t stream) {
    return {id_, stream, &order_, order_.PointAfter(frontiers_[stream])};
  }
  // The order's name of a node: its own marker comes first.
  NodeId IdOf(size_t node) {
    const Frontier at{{Handle(node)}};
    std::vector<NodeId> markers;
    order_.AddMarkers(at, order_.nodes(), &markers);
    return markers.at(0);
  }
  bool Before(NodeId node, size_t stream) {
    return order_.order().Before(node, *order_.PointAfter(frontiers_[stream]));
  }

  SlowOrder Slow() const { return SlowOrder(Resolve(trace_), order_.order().rule()); }
  // The frontier in the trace's terms.
  std::vector<FrontierEntry> SlowFrontier(size_t stream) const {
    std::vector<FrontierEntry> entries;
    for (const LiveEdge& entry : frontiers_[stream]) {
      entries.push_back({nodes_.at(entry.node), entry.from_port, entry.type});
    }
    return entries;
  }

  static uint64_t Handle(size_t node) {
    return 0x7f0000000000 + (node + 1) * 0x9e3779b1 % (1u << 31) * 16;
  }

 private:
  size_t AddNode(const Frontier& in) {
    const NodeId node(trace_.nodes.size());
    trace_.nodes.push_back({.graph = GraphId(0u)});
    nodes_[Handle(node.index())] = node;
    in_[Handle(node.index())] = in;
    for (const LiveEdge& edge : in) {
      trace_.edges.push_back({.from = nodes_.at(edge.node),
                              .to = node,
                              .from_port = edge.from_port,
                              .type = static_cast<EdgeType>(edge.type)});
    }
    return node.index();
  }
  bool EdgesInto(uint64_t node, Frontier* in) {
    ++asked_[node];
    const auto at = in_.find(node);
    if (at == in_.end()) return false;
    in->insert(in->end(), at->second.begin(), at->second.end());
    return true;
  }

  uint64_t id_;
  Trace trace_;
  std::map<uint64_t, NodeId> nodes_;
  std::map<uint64_t, Frontier> in_;
  std::map<uint64_t, int> asked_;
  std::vector<Frontier> frontiers_;
  LiveOrder order_;
};

}  // namespace graphkit
