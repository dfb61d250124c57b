// The frontier of a capturing stream: the nodes that its next node will depend on, and through
// which port each is left. Follows the stream's calls, because CUPTI tells of a new node which
// nodes it depends on, but not with what edge data.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "libgraphkit/ids.h"
#include "libgraphkit/model/graph.h"
#include "libgraphkit/model/stream.h"

namespace graphkit {

using Frontier = std::vector<FrontierEntry>;

// How much of a node an entry waits for: all of it; until its blocks have triggered; until they
// have begun, and then whether its dependents can wait for the rest.
inline int StrengthOf(const FrontierEntry& entry) {
  if (entry.from_port == kPortDefault) return 3;
  if (entry.from_port == kPortProgrammatic) return 2;
  return entry.edge_type != 0 ? 1 : 0;
}

// That of a stream. A stream that joins many others has as many entries, so that a node's is found
// by its place: mostly the one after the last that was looked for, else from a table.
class StreamFrontier {
 public:
  // Of two entries of one node that which waits for more stays: it includes the other wait, and
  // there is one edge between two nodes.
  void Join(const Frontier& more) {
    if (entries_.empty()) {
      entries_ = more;
      return;
    }
    for (const FrontierEntry& entry : more) {
      const size_t at = PlaceOf(entry.node);
      if (at == entries_.size()) {
        entries_.push_back(entry);
      } else if (StrengthOf(entry) > StrengthOf(entries_[at])) {
        entries_[at] = entry;
      }
    }
  }
  void Set(const FrontierEntry& entry) {
    clear();
    entries_.push_back(entry);
  }
  void clear() {
    entries_.clear();
    places_.clear();
    next_ = 0;
  }

  const Frontier& entries() const { return entries_; }
  // Null: the node has none.
  const FrontierEntry* Find(NodeId node) {
    const size_t at = PlaceOf(node);
    return at < entries_.size() ? &entries_[at] : nullptr;
  }

 private:
  static constexpr size_t kFew = 16;

  size_t PlaceOf(NodeId node) {
    if (next_ < entries_.size() && entries_[next_].node == node) return next_++;
    if (entries_.size() <= kFew) {
      const auto found = std::ranges::find(entries_, node, &FrontierEntry::node);
      return static_cast<size_t>(found - entries_.begin());
    }
    for (size_t i = places_.size(); i < entries_.size(); ++i)
      places_.emplace(entries_[i].node.value, i);
    const auto place = places_.find(node.value);
    if (place == places_.end()) return entries_.size();
    next_ = place->second + 1;
    return place->second;
  }

  Frontier entries_;
  std::unordered_map<uint32_t, size_t> places_;  // of the first so many entries
  size_t next_ = 0;
};

// How the edge from `node` to a new node of the stream leaves it. `programmatic`: the new node is a
// kernel launched with programmatic stream serialization, and `node` is a kernel: then other waits
// for it don't count.
inline FrontierEntry EdgeDataFrom(StreamFrontier& frontier, NodeId node, bool programmatic) {
  if (programmatic) return {node, kPortProgrammatic, static_cast<uint8_t>(EdgeType::kProgrammatic)};
  const FrontierEntry* entry = frontier.Find(node);
  return entry != nullptr ? *entry : FrontierEntry{node, kPortDefault, 0};
}

}  // namespace graphkit
