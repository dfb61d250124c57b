// Many traces of one job, looked at together: which rank is the worst, how far they are apart, and
// which differ from the others in what.
//
//     rank     asked    nodes
//     rank0   60 MiB       13   ╮ alike
//     rank1   60 MiB       13   ╯
//     rank2   84 MiB       14     the worst; differs from the two above: nodes 13 → 14, asked …
#pragma once

#include <vector>

#include "libgraphkit/model/gate.h"
#include "libgraphkit/model/rank_report.h"

namespace graphkit {

RankSummary SummarizeRank(const GateSubject& subject);

// At least one.
RankReport CompareRanks(std::vector<RankSummary> ranks);

}  // namespace graphkit
