// What a report says of each graph.
#pragma once

#include <cstddef>
#include <vector>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/model/report.h"

namespace graphkit {

struct SummaryOptions {
  size_t max_reuse_pairs = 1000;  // kept for each graph
  size_t max_blocks = 1000;       // of the peak and of the bound, kept for each graph
};

// One for each graph of the trace. Nodes and edges are the graph's own; memory of embedded graphs
// is their root's.
std::vector<GraphSummary> Summarize(const Facts& facts, const SummaryOptions& options = {});

}  // namespace graphkit
