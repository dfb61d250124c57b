// The report as a person reads it:
//
//     build/workloads/fork_join, recorded on the software device (simulated)
//     1 graph, 12 nodes, 14 edges, 5 blocks (24 MiB), 3 launches
//
//     graph 0 "step", captured on 3 streams
//       nodes    12: 6 kernel, 2 memcpy, 2 mem_alloc, 2 mem_free
//       …
//     Findings: 1 error
//     …
#pragma once

#include <ostream>

#include "libgraphkit/model/report.h"
#include "libgraphkit/model/trace.h"
#include "libgraphkit/render/text_layout.h"

namespace graphkit {

// Reports are of `trace`; findings come as they are ordered in the report.
void RenderText(const Report& report, const Trace& trace, const TextStyle& style,
                std::ostream& out);

}  // namespace graphkit
