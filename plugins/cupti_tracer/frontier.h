// The frontier of a capturing stream: the nodes that its next node will depend on, and through
// which port each is left. Follows the stream's calls, because CUPTI tells of a new node which
// nodes it depends on, but not with what edge data.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "libgraphkit/ids.h"
#include "libgraphkit/model/stream.h"

namespace graphkit {

using Frontier = std::vector<FrontierEntry>;

// Adds entries that are not in it. The same node may be in it through different ports.
inline void Join(Frontier& frontier, const Frontier& more) {
  for (const FrontierEntry& entry : more) {
    if (std::find(frontier.begin(), frontier.end(), entry) == frontier.end()) {
      frontier.push_back(entry);
    }
  }
}

// How the edge from `node` to a new node of the stream leaves it. `programmatic`: the new node is a
// kernel launched with programmatic stream serialization, and `node` is a kernel.
inline FrontierEntry EdgeDataFrom(const Frontier& frontier, NodeId node, bool programmatic) {
  for (const FrontierEntry& entry : frontier) {
    if (entry.node != node) continue;
    if (entry.from_port != kPortDefault || !programmatic) return entry;
  }
  if (!programmatic) return {node, kPortDefault, 0};
  return {node, kPortProgrammatic, static_cast<uint8_t>(EdgeType::kProgrammatic)};
}

}  // namespace graphkit
