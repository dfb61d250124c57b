// Memory that may be borrowed of a plan's arenas: between launches, and at a node of a graph.
//
//     offset
//       | done  |   |      later       |      at node n the bytes of what is done before it starts,
//       | done  | n |         | later  |      and of what starts only after it, are free: to the
//       |   lives across   |                  end of the last node of n's chain that is known to
//       +------------------------- order      end before these start
#pragma once

#include <vector>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/model/planned_memory.h"

namespace graphkit {

// Between two launches of the graphs that share an arena: its bytes less those of the blocks that
// are barred (libgraphkit/analysis/launches/borrow.h). By arena, then by offset.
std::vector<BorrowedRange> PlanBorrow(const Facts& facts, const PlannedMemory& plan,
                                      MarkerRule rule);

// Memory that is free while a node runs. By arena, then by offset; in arenas of the node's graph,
// or that it shares. Neighbours with one `last` are one.
std::vector<BorrowAt> BorrowAtNode(const Facts& facts, const PlannedMemory& plan, MarkerRule rule,
                                   NodeId at);

}  // namespace graphkit
