// The nodes that a capturing stream's next node will follow. A stream that joins many others has as
// many of them, so that a node is found by its place in a table once there are more than a few.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <unordered_map>
#include <vector>

#include "plugins/soft_cuda/model/graph.h"

namespace graphkit::soft {

class DependencySet {
 public:
  // Of two edges of one node that which waits for more stays: it includes the weaker wait.
  void Add(const Edge& edge) {
    Edge* same = Find(edge.node);
    if (same == nullptr) {
      edges_.push_back(edge);
    } else if (Strength(edge.data) > Strength(same->data)) {
      same->data = edge.data;
    }
  }
  // `edges`: of nodes that differ.
  void Add(std::span<const Edge> edges) {
    if (edges_.empty()) {
      edges_.assign(edges.begin(), edges.end());
    } else {
      for (const Edge& edge : edges) Add(edge);
    }
  }
  void Set(Node* node) {
    if (edges_.capacity() > kFew) edges_ = {};
    clear();
    edges_.push_back({node, {}});
  }
  void clear() {
    edges_.clear();
    places_.clear();
  }

  const std::vector<Edge>& edges() const { return edges_; }
  auto begin() const { return edges_.begin(); }
  auto end() const { return edges_.end(); }

 private:
  static constexpr size_t kFew = 16;

  // How much of a node a dependency waits for: all of it; until its blocks have triggered; until
  // they have begun, and then whether the dependent can wait for the rest.
  static int Strength(const CUgraphEdgeData& data) {
    if (data.from_port == CU_GRAPH_KERNEL_NODE_PORT_DEFAULT) return 3;
    if (data.from_port == CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC) return 2;
    return data.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC ? 1 : 0;
  }

  Edge* Find(const Node* node) {
    if (edges_.size() <= kFew) {
      const auto found = std::ranges::find(edges_, node, &Edge::node);
      return found != edges_.end() ? &*found : nullptr;
    }
    for (size_t i = places_.size(); i < edges_.size(); ++i) places_.emplace(edges_[i].node, i);
    const auto place = places_.find(node);
    return place != places_.end() ? &edges_[place->second] : nullptr;
  }

  std::vector<Edge> edges_;
  std::unordered_map<const Node*, size_t> places_;  // of the first so many edges
};

}  // namespace graphkit::soft
