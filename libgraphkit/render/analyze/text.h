// The report of `graphkit analyze` as text.
#pragma once

#include <vector>

#include "libgraphkit/analysis/memory/memory_bill.h"
#include "libgraphkit/model/report.h"
#include "libgraphkit/ran/ran.h"
#include "libgraphkit/render/text_layout.h"

namespace graphkit {

// The report as a person reads it:
//
//     build/workloads/fork_join, recorded on the software device (simulated)
//     1 graph, 12 nodes, 14 edges, 5 blocks (24 MiB), 3 launches
//
//     Findings: 1 error
//     …
//     graph 0 "step", captured on 3 streams
//       nodes    12: 6 kernel, 2 memcpy, 2 mem_alloc, 2 mem_free
//       …
//
// Reports are of `trace`; findings of one check and severity stand together, in the order of the
// report.
void RenderText(const Report& report, const Ran& trace, const TextOut& out);

// Tables of memory, grouped.
void RenderBills(const Ran& trace, const std::vector<MemoryBill>& bills, BillBy by,
                 const TextOut& out);

void RenderHeld(const std::vector<HeldLine>& lines, BillBy by, const HeldAt& at,
                const TextOut& out);

}  // namespace graphkit
