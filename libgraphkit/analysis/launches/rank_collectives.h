// The collective operations of a trace, in the order in which they run.
#pragma once

#include <vector>

#include "libgraphkit/model/rank_report.h"
#include "libgraphkit/ran/ran.h"

namespace graphkit {

// `ran`: the graph that each launch ran.
RankCollectives SummarizeCollectives(const Ran& trace, const std::vector<GraphId>& ran);

}  // namespace graphkit
