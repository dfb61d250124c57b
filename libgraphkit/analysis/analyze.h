// A trace → everything that `graphkit analyze` says of it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/analysis/order/order.h"
#include "libgraphkit/model/report.h"
#include "libgraphkit/ran/ran.h"
#include "libgraphkit/result.h"

namespace graphkit {

// One for each graph of the trace. Nodes and edges are the graph's own; memory of embedded graphs
// is their root's. At most 1000 blocks of the peak, of the bound, and pairs that could share
// memory.
std::vector<GraphSummary> Summarize(const Facts& facts);

// Blocks that graphs allocate, by what the sources of a joined trace say of them: the stream and
// the line from an allocator's history, the nodes from what was captured.
BlockJoins CountJoins(const MemoryFacts& facts);

struct AnalyzeOptions {
  std::vector<std::string> checks;  // ids of the checks to run; empty: all
  // kAllFull: bounds, reuse and what was missed as PyTorch takes edges, for full ones; hazards are
  // judged by completion all the same, and what that rule would reuse without proof is a finding.
  EdgeRule edges = EdgeRule::kCompletion;
  Bytes min_bytes = 0;  // drops findings that are about fewer bytes; those that aren't
                        // about bytes stay
  std::chrono::milliseconds bound_time_limit{3000};  // for each graph
};

// Facts by the options' edges and time limit. `graphs_done`: counts up.
Facts FindReportFacts(const Ran& trace, const AnalyzeOptions& options = {},
                      std::atomic<size_t>* graphs_done = nullptr);

// Fails when a check isn't known, naming the nearest one. `facts`: as FindReportFacts finds them.
Result<Report> Analyze(const Facts& facts, const AnalyzeOptions& options = {});
// For who needs no facts besides.
Result<Report> Analyze(const Ran& trace, const AnalyzeOptions& options = {});

}  // namespace graphkit
