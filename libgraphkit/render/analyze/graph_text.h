// The part of the text report that speaks of graphs.
#pragma once

#include <ostream>
#include <string>

#include "libgraphkit/model/report.h"
#include "libgraphkit/model/trace.h"
#include "libgraphkit/render/text_layout.h"

namespace graphkit {

// One graph in full: nodes, edges, memory, and what could share memory.
void RenderGraph(const GraphSummary& graph, const Trace& trace, const TextStyle& style,
                 std::ostream& out);

// One line for each graph; with more graphs than style.top those with the most bytes.
void RenderGraphTable(const Report& report, const TextStyle& style, std::ostream& out);

// What a proof rests on, as the end of a sentence: "if kernels touch only …".
std::string AssumptionText(Assumption assumption);

}  // namespace graphkit
