#include "tools/graphkit/files/rank_input.h"

#include "libgraphkit/compare/gate.h"
#include "libgraphkit/compare/ranks.h"
#include "libgraphkit/io/bytes/pack_ranks.h"
#include "tools/graphkit/cli/talk.h"
#include "tools/graphkit/files/input.h"
#include "tools/graphkit/files/many_traces.h"

namespace graphkit {

namespace {

// One trace: only what `pack` makes of its subject stays.
template <typename Pack>
Result<std::string> ReadOne(const std::string& path, const AnalyzeOptions& options, Pack pack) {
  const Result<Trace> trace = ReadQuietly(path);
  if (!trace) return trace.error();
  Result<Report> report = Analyze(*trace, options);
  if (!report) return report.error();
  return pack(MakeGateSubject(path, *trace, *std::move(report)));
}

// All that came, in the order of the paths.
template <typename T, typename Pack>
Result<std::vector<T>> ReadAll(const Job& job, const std::vector<std::string>& paths,
                               const AnalyzeOptions& options, Pack pack,
                               std::optional<T> (*unpack)(std::string_view)) {
  std::vector<T> all;
  bool lost = false;
  const auto make = [&](const std::string& path) { return ReadOne(path, options, pack); };
  const auto take = [&](size_t, const std::string& made) {
    std::optional<T> one = unpack(made);
    lost = lost || !one;
    if (one) all.push_back(*std::move(one));
  };
  const Result<void> done =
      MakeAll(job, {.paths = paths, .threads = 0, .doing = "analyzing"}, make, take);
  if (!done) return done.error();
  if (lost) return Error{.message = "the processes of the job aren't of the same version"};
  return all;
}

}  // namespace

Result<std::vector<GateSubject>> ReadSubjects(const Job& job,
                                              const std::vector<std::string>& paths) {
  return ReadAll<GateSubject>(job, paths, {}, PackSubject, UnpackSubject);
}

Result<RankReport> ReadRanks(const Job& job, const std::vector<std::string>& paths,
                             const AnalyzeOptions& options) {
  const auto pack = [](const GateSubject& subject) { return PackRank(SummarizeRank(subject)); };
  Result<std::vector<RankSummary>> ranks =
      ReadAll<RankSummary>(job, paths, options, pack, UnpackRank);
  if (!ranks) return ranks.error();
  return ranks->empty() ? RankReport() : CompareRanks(*std::move(ranks));
}

int WarnIncomplete(const RankReport& report) {
  int exit_code = kExitOk;
  for (const RankSummary& rank : report.ranks) {
    if (rank.complete()) continue;
    PrintWarning(rank.trace + " is incomplete: " + rank.incomplete_because.front());
    exit_code = kExitIncomplete;
  }
  return exit_code;
}

}  // namespace graphkit
