// A trace → everything that `graphkit analyze` says of it.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "libgraphkit/analysis/order.h"
#include "libgraphkit/analysis/summary.h"
#include "libgraphkit/model/report.h"
#include "libgraphkit/model/trace.h"
#include "libgraphkit/result.h"

namespace graphkit {

struct AnalyzeOptions {
  std::vector<std::string> checks;  // ids of the checks to run; empty: all
  // kLaunch: bounds, reuse and what was missed as PyTorch takes edges, for full ones; hazards are
  // judged by completion all the same, and what that rule would reuse without proof is a finding.
  EdgeRule edges = EdgeRule::kCompletion;
  Bytes min_bytes = 0;  // drops findings that are about fewer bytes; those that aren't
                        // about bytes stay
  std::chrono::milliseconds bound_time_limit{3000};  // for each graph
  SummaryOptions summary;
};

// Fails when a check isn't known, naming the nearest one.
Result<Report> Analyze(const Trace& trace, const AnalyzeOptions& options = {});

}  // namespace graphkit
