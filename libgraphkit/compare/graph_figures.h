// What is compared of two graphs in figures, in the order of kRankGraphFigures. Addresses differ
// from run to run: figures that depend on them aren't among them.
#pragma once

#include <array>

#include "libgraphkit/model/rank_report.h"
#include "libgraphkit/model/report.h"

namespace graphkit {

inline std::array<RankFigure, kRankGraphFigures.size()> GraphFigures(const GraphSummary& graph) {
  return {graph.nodes,
          graph.edges,
          graph.streams,
          graph.blocks,
          graph.total_bytes,
          graph.peak_live_bytes,
          graph.deferred_bytes,
          graph.lower_bound_bytes,
          graph.never_freed_bytes,
          graph.reuse_bytes};
}

}  // namespace graphkit
