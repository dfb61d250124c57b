// What differs between two graphs whose nodes are matched.
#pragma once

#include "libgraphkit/compare/match_nodes.h"
#include "libgraphkit/model/trace_diff.h"

namespace graphkit {

// All but the figures.
GraphDiff DiffGraph(const Trace& before_trace, const GraphView& before, const Trace& after_trace,
                    const GraphView& after, const NodeMatching& matching);

}  // namespace graphkit
