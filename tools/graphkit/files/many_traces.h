// Many traces at once: `graphkit analyze rank*.json`. Several are read at the same time, as many as
// fit into memory, by all processes of the job; what is made of them comes in the order in which
// they were named, by whichever thread.
//
//     named       rank0  rank1  rank2  rank3  rank4
//     process 0   make          make          make      take, take, take, take, take
//     process 1          make          make
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "libgraphkit/analysis/analyze.h"
#include "libgraphkit/model/gate.h"
#include "libgraphkit/model/rank_report.h"
#include "libgraphkit/result.h"
#include "tools/graphkit/files/job.h"

namespace graphkit {

// Expands the names on the command line: a folder stands for the traces in it (*.json, *.json.zst),
// rank2 before rank10. No file may be named twice.
Result<std::vector<std::string>> ExpandTraces(const std::vector<std::string>& named);

struct ManyTraces {
  std::vector<std::string> paths;
  size_t threads = 0;  // 0: one for each core
  std::string doing;   // "analyzing": said when it takes long
};

// `make` runs in several threads and must not speak; `take` runs in this one, in the order of the
// paths, and only in process 0 of the job. The first error in that order is given, and ends it.
Result<void> MakeAll(const Job& job, const ManyTraces& traces,
                     const std::function<Result<std::string>(const std::string& path)>& make,
                     const std::function<void(size_t index, std::string made)>& take);

// Traces of many ranks, read and analyzed: what is kept of each.

// For the gate. Empty in the other processes of a job.
Result<std::vector<GateSubject>> ReadSubjects(const Job& job, const std::vector<std::string>& paths,
                                              const AnalyzeOptions& options = {});

// For a report on all of them; at least one path. Other processes of a job get one without ranks.
Result<RankReport> ReadRanks(const Job& job, const std::vector<std::string>& paths,
                             const AnalyzeOptions& options);

// One warning on stderr for each that is incomplete; gives the exit code that goes with them.
int WarnIncomplete(const RankReport& report);

}  // namespace graphkit
