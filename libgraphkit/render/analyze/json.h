// The report of `graphkit analyze` as JSON.
#pragma once

#include <ostream>
#include <vector>

#include "libgraphkit/analysis/launches/coverage.h"
#include "libgraphkit/analysis/memory/memory_bill.h"
#include "libgraphkit/model/report.h"
#include "libgraphkit/ran/ran.h"
#include "libgraphkit/render/json.h"

namespace graphkit {

// The report as JSON, schema "graphkit-analyze", version 1 (docs/cli.md). Keys have a fixed order;
// more may join, those that are there keep their meaning. Bytes are integers, ids the trace's.
//
// With `bills`, each graph that has one gets "memory_by": what, and its lines; with `held`, there
// is "held_at_end", or "held_at" with another moment; with `coverage`, "coverage".
void RenderJson(const Report& report, const Ran& trace, std::ostream& out,
                const std::vector<MemoryBill>& bills = {}, const std::vector<HeldLine>& held = {},
                BillBy by = BillBy::kBlock, const HeldAt& at = {},
                const Coverage* coverage = nullptr);

// The same as a value; without the pairs of "reuse" unless `pairs` is set: the HTML report has them
// as columns.
Json ReportJson(const Report& report, const Ran& trace, bool pairs);

}  // namespace graphkit
