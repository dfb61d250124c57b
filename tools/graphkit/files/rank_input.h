// Traces of many ranks, read and analyzed: what is kept of each.
#pragma once

#include <string>
#include <vector>

#include "libgraphkit/analysis/analyze.h"
#include "libgraphkit/model/gate.h"
#include "libgraphkit/model/rank_report.h"
#include "libgraphkit/result.h"
#include "tools/graphkit/files/job.h"

namespace graphkit {

// For the gate. Empty in the other processes of a job.
Result<std::vector<GateSubject>> ReadSubjects(const Job& job,
                                              const std::vector<std::string>& paths);

// For a report on all of them; at least one path. Other processes of a job get one without ranks.
Result<RankReport> ReadRanks(const Job& job, const std::vector<std::string>& paths,
                             const AnalyzeOptions& options);

// One warning on stderr for each that is incomplete; gives the exit code that goes with them.
int WarnIncomplete(const RankReport& report);

}  // namespace graphkit
