// The report of `graphkit analyze`: as text, and as JSON.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "libgraphkit/analysis/launches/coverage.h"
#include "libgraphkit/analysis/memory/memory_bill.h"
#include "libgraphkit/model/report.h"
#include "libgraphkit/ran/ran.h"
#include "libgraphkit/render/json.h"
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

// Graphs in full: nodes, edges, memory, and what could share memory. Those that would read the same
// are one entry; where there are many entries, they are the lines of a table. With more than
// style.top those with the most bytes.
void RenderGraphs(const Report& report, const Ran& trace, const TextOut& out);

// "1.2 MiB of the device (300 KiB to 3 MiB, estimated)".
std::string ExecRangeText(const ByteRange& range, ExecSource source, DeviceKind device);

// The assumption of a proof, as the end of a sentence: "if kernels touch only …".
std::string AssumptionText(Assumption assumption);

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

// Tables of memory, grouped.
void RenderBills(const Ran& trace, const std::vector<MemoryBill>& bills, BillBy by,
                 const TextOut& out);

void RenderHeld(const std::vector<HeldLine>& lines, BillBy by, const HeldAt& at,
                const TextOut& out);

// The part of a program that runs in graphs.
void RenderCoverage(const Coverage& coverage, const Ran& trace, const TextOut& out);
Json CoverageJson(const Coverage& coverage, const Ran& trace);

}  // namespace graphkit
