// Checks where a replay or a plan put the blocks of a graph: blocks that conflict may not share
// bytes. Shares no code with the policies and the planner.
//
// One sweep in capture order over a map from addresses to who lay there last. A block that lies
// where another one lay must come after it; since "before" is transitive, the last one is enough.
// Blocks of child graphs and bodies, which need not come in capture order, stay in the map.
#pragma once

#include <span>
#include <vector>

#include "libgraphkit/analysis/block_order.h"
#include "libgraphkit/units.h"

namespace graphkit {

struct PlacedBlock {
  BlockId block;
  Bytes offset = 0;
  Bytes size = 0;
  bool operator==(const PlacedBlock&) const = default;
};

// Two blocks that share bytes although nothing orders them; `later` is later in capture order.
// What is missing is last_use (a marker of `earlier`) before first_use (a node that touches `later`
// first); none: what has no node, the end of a block that isn't freed, an allocation point.
struct UnsafePair {
  BlockId earlier;
  BlockId later;
  NodeId last_use = {};
  NodeId first_use = {};
  bool operator==(const UnsafePair&) const = default;
};

// `blocks`: of one pool of one graph, in capture order. Complete when empty.
std::vector<UnsafePair> ValidatePlacements(const BlockOrder& order,
                                           std::span<const PlacedBlock> blocks);

}  // namespace graphkit
