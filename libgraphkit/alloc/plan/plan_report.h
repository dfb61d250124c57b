// Puts beside the bound of each graph in a report a placement that exists.
#pragma once

#include "libgraphkit/analysis/order.h"
#include "libgraphkit/model/report.h"
#include "libgraphkit/model/trace.h"

namespace graphkit {

// Fills in plan_bytes of the graphs of small traces (up to 2 000 blocks), with little search.
// `edges` is the rule by which the report was made.
void AddPlans(const Trace& trace, EdgeRule edges, Report* report);

}  // namespace graphkit
