// The frontier of a capturing stream: the nodes that its next node will depend on, and through
// which port each is left. Follows the stream's calls, because CUPTI tells of a new node which
// nodes it depends on, but not with what edge data.
#pragma once

#include <algorithm>
#include <cstdint>
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

// Adds entries to it. Of two of one node that which waits for more stays: it includes the other
// wait, and there is one edge between two nodes.
inline void Join(Frontier& frontier, const Frontier& more) {
  for (const FrontierEntry& entry : more) {
    auto same = std::find_if(frontier.begin(), frontier.end(),
                             [&](const FrontierEntry& e) { return e.node == entry.node; });
    if (same == frontier.end()) {
      frontier.push_back(entry);
    } else if (StrengthOf(entry) > StrengthOf(*same)) {
      *same = entry;
    }
  }
}

// How the edge from `node` to a new node of the stream leaves it. `programmatic`: the new node is a
// kernel launched with programmatic stream serialization, and `node` is a kernel: then other waits
// for it don't count.
inline FrontierEntry EdgeDataFrom(const Frontier& frontier, NodeId node, bool programmatic) {
  if (programmatic) return {node, kPortProgrammatic, static_cast<uint8_t>(EdgeType::kProgrammatic)};
  for (const FrontierEntry& entry : frontier) {
    if (entry.node == node) return entry;
  }
  return {node, kPortDefault, 0};
}

}  // namespace graphkit
