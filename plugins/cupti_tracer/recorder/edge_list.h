// The edges of a graph that can still be removed, by their ends. Few graphs lose edges: what finds
// them is made when the first one goes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plugins/cupti_tracer/calls/records.h"
#include "plugins/cupti_tracer/ground/handle_map.h"

namespace graphkit {

// A key for an edge's ends; not zero.
inline uint64_t EndsKey(NodeId from, NodeId to) {
  return (uint64_t{from.value} << 32 | to.value) + 1;
}

class EdgeList {
 public:
  void Add(NodeId from, NodeId to, EdgeId id) { edges_.push_back({from, to, id}); }

  // Takes out the one that was added last between these nodes; none: there is none.
  EdgeId Take(NodeId from, NodeId to) {
    FindLast();
    uint32_t* at = last_.Find(EndsKey(from, to));
    if (at == nullptr) return {};
    const uint32_t before = before_[*at];
    const EdgeId id = edges_[*at].id;
    edges_[*at].id = {};
    if (before == kNone) {
      last_.Erase(EndsKey(from, to));
    } else {
      *at = before;
    }
    if (++gone_ > kFew && gone_ > edges_.size() / 2) DropGone();
    return id;
  }

  void Clear() { *this = {}; }
  // Edges that were looked at so far, to find others.
  uint64_t looks() const { return looks_; }

 private:
  static constexpr uint32_t kNone = 0xffffffffu;
  static constexpr size_t kFew = 16;  // that are gone and kept

  struct Edge {
    NodeId from;
    NodeId to;
    EdgeId id;  // none: gone
  };

  void FindLast() {
    for (size_t i = before_.size(); i < edges_.size(); ++i, ++looks_) {
      const uint64_t key = EndsKey(edges_[i].from, edges_[i].to);
      const uint32_t* last = last_.Find(key);
      before_.push_back(last != nullptr ? *last : kNone);
      last_.Insert(key, static_cast<uint32_t>(i));
    }
  }

  void DropGone() {
    std::erase_if(edges_, [](const Edge& edge) { return !edge.id.valid(); });
    before_.clear();
    last_.Clear();
    gone_ = 0;
  }

  std::vector<Edge> edges_;
  std::vector<uint32_t> before_;  // by edge: the one before it with the same ends
  HandleMap<uint32_t> last_;      // by ends
  size_t gone_ = 0;
  uint64_t looks_ = 0;
};

}  // namespace graphkit
