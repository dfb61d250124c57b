// Order in a graph while it is being captured. The driver is asked for the edges of nodes as they
// come into sight, each once; what follows from them is proved by analysis/order/order.h.
//
//     capture so far      a0 ── a1 ── a2        seen from a2: a0, a1, a2
//                           ╲                   seen from b0: nothing more but b0
//                            b0                 a1 isn't before b0: memory that a1 used stays
//
// A node that follows another one by a programmatic edge doesn't prove that it has ended: nothing
// is known of whether kernels wait for their grid dependencies.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "libgraphkit/analysis/order/order.h"

namespace graphkit {

// An edge, or an entry of a stream's frontier, as the driver tells it.
struct LiveEdge {
  uint64_t node = 0;  // its handle
  uint8_t from_port = 0;
  uint8_t type = 0;
  bool full() const { return from_port == 0 && type == 0; }
  bool operator==(const LiveEdge&) const = default;
};

class LiveOrder {
 public:
  // Adds the edges that lead to a node. False: they aren't known.
  using EdgesInto = std::function<bool(uint64_t node, std::vector<LiveEdge>* in)>;
  LiveOrder(EdgeRule rule, EdgesInto edges_into)
      : edges_into_(std::move(edges_into)), order_(rule) {}

  // Where the next node of a stream that stands there would start. Nothing: edges couldn't be had,
  // and so nothing is proved in this capture any more.
  std::optional<OrderPoint> PointAfter(std::span<const LiveEdge> frontier);

  // Adds what must have ended so that all that a stream did has ended, when it stands at
  // `frontier`: the frontier's nodes, and from the node `since` on (nodes() at a time before the
  // stream did what matters) all whose end no other node waits for and these don't prove; those of
  // other streams among them: that they aren't before the frontier isn't looked at, so a block may
  // wait longer than it must. False: too many, or not known.
  bool AddMarkers(std::span<const LiveEdge> frontier, size_t since, std::vector<NodeId>* markers);

  const Order& order() const { return order_; }
  size_t nodes() const { return order_.nodes(); }

 private:
  static constexpr size_t kMostMarkers = 64;

  struct Open {  // a node whose edges are being followed
    uint64_t node = 0;
    std::vector<LiveEdge> in;
    size_t next = 0;
  };

  bool Learn(uint64_t node);
  bool Enter(uint64_t node);
  void Add(const Open& open);
  void AddLoose(NodeId node);
  bool IsMarker(NodeId node, std::span<const NodeId> ends) const;

  EdgesInto edges_into_;
  Order order_;
  std::unordered_map<uint64_t, NodeId> ids_;  // by handle
  std::vector<Open> open_;
  std::vector<NodeId> loose_;  // in order: with an edge to a node that doesn't wait for their end
  std::vector<LiveEdge> last_frontier_;
  OrderPoint last_point_;
  bool broken_ = false;
};

}  // namespace graphkit
