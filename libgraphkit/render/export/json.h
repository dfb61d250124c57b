// A trace's graphs as plain JSON, schema "graphkit-graphs", version 1 (docs/export.md): each with
// its nodes and edges, so that a graph library reads it without knowing the trace format.
#pragma once

#include <ostream>

#include "libgraphkit/model/trace.h"

namespace graphkit {

// Nodes and edges that were taken out of their graph are left out.
void RenderGraphsJson(const Trace& trace, std::ostream& out);

}  // namespace graphkit
