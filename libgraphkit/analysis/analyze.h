// A trace → everything that `graphkit analyze` says of it.
#pragma once

#include <string>
#include <vector>

#include "libgraphkit/analysis/summary.h"
#include "libgraphkit/model/report.h"
#include "libgraphkit/model/trace.h"
#include "libgraphkit/result.h"

namespace graphkit {

struct AnalyzeOptions {
  std::vector<std::string> checks;  // ids of the checks to run; empty: all
  Bytes min_bytes = 0;              // drops findings that are about fewer bytes; those that aren't
                                    // about bytes stay
  SummaryOptions summary;
};

// Fails when a check isn't known, naming the nearest one.
Result<Report> Analyze(const Trace& trace, const AnalyzeOptions& options = {});

}  // namespace graphkit
