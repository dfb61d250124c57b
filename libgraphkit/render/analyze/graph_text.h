// The graphs of a report as text.
#pragma once

#include <string>

#include "libgraphkit/model/report.h"
#include "libgraphkit/ran/ran.h"
#include "libgraphkit/render/text_layout.h"

namespace graphkit {

// Graphs in full: nodes, edges, memory, and what could share memory. Those that would read the same
// are one entry; where there are many entries, they are the lines of a table. With more than
// style.top those with the most bytes.
void RenderGraphs(const Report& report, const Ran& trace, const TextOut& out);

// "about 1.2 MiB (estimated; 300 KiB to 3 MiB)".
std::string ExecRangeText(const ByteRange& range, ExecSource source, DeviceKind device);

// The assumption of a proof, as the end of a sentence: "if kernels touch only …".
std::string AssumptionText(Assumption assumption);

}  // namespace graphkit
