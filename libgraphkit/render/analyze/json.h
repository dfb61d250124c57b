// The report as JSON, schema "graphkit-analyze", version 1 (docs/cli.md). Keys have a fixed order;
// more may join, those that are there keep their meaning. Bytes are integers, ids the trace's.
#pragma once

#include <ostream>
#include <vector>

#include "libgraphkit/model/report.h"
#include "libgraphkit/model/trace.h"
#include "libgraphkit/render/analyze/held_bill.h"
#include "libgraphkit/render/analyze/memory_bill.h"

namespace graphkit {

// With `bills`, each graph that has one gets "memory_by": what, and its lines; with `held`, there
// is "held_at_end".
void RenderJson(const Report& report, const Trace& trace, std::ostream& out,
                const std::vector<MemoryBill>& bills = {}, const std::vector<HeldLine>& held = {},
                BillBy by = BillBy::kBlock);

}  // namespace graphkit
