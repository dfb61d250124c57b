// Which bytes blocks take over from each other in a plan, and the proof that they may.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libgraphkit/analysis/block_order.h"
#include "libgraphkit/model/planned_memory.h"

namespace graphkit {

// Adds to plan->shared what the placements of one arena share: each range with the block that lay
// there last. `placements`: in capture order, blocks by id.
void AddSharedBytes(const BlockOrder& order, std::span<const Placement> placements,
                    PlannedMemory* plan);

// The nodes that touch a block and aren't after another one that does.
std::vector<NodeId> FirstTouches(const BlockOrder& order, BlockId block);

}  // namespace graphkit
