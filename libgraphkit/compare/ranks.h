// Many traces of one job, looked at together: which rank is the worst, how far they are apart, and
// which differ from the others in what.
//
//     rank     asked    nodes
//     rank0   60 MiB       13   ╮ alike
//     rank1   60 MiB       13   ╯
//     rank2   84 MiB       14     the worst; differs from the two above: nodes 13 → 14, asked …
#pragma once

#include <array>
#include <vector>

#include "libgraphkit/model/gate.h"
#include "libgraphkit/model/rank_report.h"
#include "libgraphkit/model/report.h"

namespace graphkit {

RankSummary SummarizeRank(const GateSubject& subject);
std::vector<RankSummary> SummarizeRanks(const std::vector<GateSubject>& subjects);

// At least one.
RankReport CompareRanks(std::vector<RankSummary> ranks);

// The figures of two graphs that are compared, in the order of kRankGraphFigures. Addresses differ
// from run to run: figures that depend on them aren't among them.
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
