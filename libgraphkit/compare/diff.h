// Differences of two traces of the same program, or of two versions or ranks of it.
#pragma once

#include "libgraphkit/model/report.h"
#include "libgraphkit/model/trace.h"
#include "libgraphkit/model/trace_diff.h"

namespace graphkit {

// Graphs that stand alone are matched by name and content, in order; those that nodes hold, with
// the nodes. The reports are those of the traces.
TraceDiff DiffTraces(const Trace& before, const Report& before_report, const Trace& after,
                     const Report& after_report);

// The first allocation at another address or of another size in two runs of a program, with its
// cause; the rest of the runs; and nodes that can't be moved. Nothing: all allocations lie alike.
std::vector<FindingChange> FindLayoutDiff(const Trace& before, const Trace& after);

}  // namespace graphkit
