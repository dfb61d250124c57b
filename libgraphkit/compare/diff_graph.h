// What differs between two graphs whose nodes are matched.
#pragma once

#include "libgraphkit/compare/match_nodes.h"
#include "libgraphkit/model/node_changes.h"
#include "libgraphkit/model/trace_diff.h"

namespace graphkit {

struct ComparedSide {
  const Trace& trace;
  const NodeChanges& changes;
  const GraphView& view;
};

// All but the figures.
GraphDiff DiffGraph(const ComparedSide& before_side, const ComparedSide& after_side,
                    const NodeMatching& matching);

}  // namespace graphkit
