// The gate's verdict as a person reads it in a job's log:
//
//     trace.json: 1 graph, 12 nodes, 5 blocks, recorded on the software device (simulated)
//
//     failed: 1 reason
//       - trace.json: max-deferred: graph 0 step: 1 MiB deferred, 0 B allowed
//     …
#pragma once

#include <ostream>

#include "libgraphkit/model/gate.h"
#include "libgraphkit/render/text_layout.h"

namespace graphkit {

void RenderCheckText(const GateRun& run, const TextStyle& style, std::ostream& out);

}  // namespace graphkit
