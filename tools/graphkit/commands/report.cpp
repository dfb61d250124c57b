// `graphkit report`: a trace as a page to look at.
#include <algorithm>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "libgraphkit/alloc/plan/plan_trace.h"
#include "libgraphkit/analysis/analyze.h"
#include "libgraphkit/render/report/data.h"
#include "libgraphkit/render/report/html.h"
#include "tools/graphkit/check_pages.h"
#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/commands.h"
#include "tools/graphkit/files/input.h"
#include "tools/graphkit/files/many_traces.h"
#include "tools/graphkit/files/output.h"
#include "tools/graphkit/terminal/progress.h"
#include "tools/graphkit/terminal/talk.h"

namespace graphkit {

namespace {

struct ReportArguments {
  std::vector<std::string> traces;
  std::string output = "report.html";
  std::optional<PolicyKind> policy = PolicyKind::kReuse;
  AnalyzeOptions options;
  bool open = false;
};

// The placements without segments are drawn.
std::optional<PolicyReplay> ReplayPolicy(const Facts& facts, const ReportArguments& arguments) {
  if (!arguments.policy) return std::nullopt;
  PolicyReplay replay = ReplayTrace(facts, *arguments.policy, {.verify = true});
  for (GraphReplay& graph : replay.graphs) {
    for (ReplayedPool& pool : graph.pools) std::exchange(pool.segments, {});
  }
  return replay;
}

// All that is drawn of the trace goes to `draw`. `progress` may be null.
template <typename Draw>
Result<void> Drawn(const Ran& trace, const std::string& path, const ReportArguments& arguments,
                   Progress* progress, Draw draw) {
  const auto next = [&](const char* doing) {
    if (progress != nullptr) progress->Next(doing + path);
  };
  const Facts facts =
      FindReportFacts(trace, arguments.options, progress != nullptr ? progress->done() : nullptr);
  Result<Report> report = Analyze(facts, arguments.options);
  if (!report) return report.error();
  next("planning ");
  AddPlans(facts, &*report);
  next("replaying ");
  const std::optional<PolicyReplay> policy = ReplayPolicy(facts, arguments);
  std::vector<MemoryAccount> memory;
  if (report->unknown_memory.empty()) memory = AccountForMemory(facts);
  next("drawing ");
  return draw(
      ReportPage{facts, *report, policy ? &*policy : nullptr, path, std::move(memory), PageOf});
}

int ReportOn(const std::string& path, const ReportArguments& arguments) {
  const Result<Ran> trace = ReadInput(path);
  if (!trace) return PrintError(trace.error());
  Progress progress("analyzing " + path, trace->graphs.size());
  const auto write = [&](const ReportPage& page) {
    return WriteOutput(arguments.output, [&](std::ostream& out) { RenderReportHtml(page, out); });
  };
  const Result<void> written = Drawn(*trace, path, arguments, &progress, write);
  if (!written) return PrintError(written.error());
  if (!arguments.open) LogWritten(arguments.output);
  return WarnIncomplete(*trace, path);
}

Result<std::string> MakeDrawing(const std::string& path, const ReportArguments& arguments) {
  const Result<Ran> trace = ReadQuietly(path);
  if (!trace) return trace.error();
  std::string packed;
  const auto pack = [&](const ReportPage& page) {
    packed = PackDrawing(page);
    return Result<void>();
  };
  const Result<void> drawn = Drawn(*trace, path, arguments, nullptr, pack);
  if (!drawn) return drawn.error();
  return packed;
}

// The result of process 0, in all processes of the job.
std::vector<uint32_t> Shared(const Job& job, const std::vector<uint32_t>& found) {
  if (job.rank() == 0) {
    std::string text;
    for (const uint32_t number : found) text += std::to_string(number) + " ";
    for (int process = 1; process < job.size(); ++process) job.Send(text, process);
    return found;
  }
  std::istringstream text(job.Receive(0));
  std::vector<uint32_t> numbers;
  for (uint32_t number = 0; text >> number;) numbers.push_back(number);
  return numbers;
}

// Read a second time: which ones are drawn isn't known until all were.
Result<std::vector<RankDrawing>> DrawRanks(const Job& job, const std::vector<std::string>& paths,
                                           const std::vector<uint32_t>& drawn,
                                           const ReportArguments& arguments) {
  std::vector<RankDrawing> drawings;
  std::vector<std::string> chosen;
  for (const uint32_t rank : drawn) chosen.push_back(paths[rank]);
  const Result<void> made = MakeAll(
      job, {.paths = chosen, .threads = 0, .doing = "drawing"},
      [&](const std::string& path) { return MakeDrawing(path, arguments); },
      [&](size_t at, std::string packed) {
        drawings.push_back({drawn[at], std::move(packed)});
      });
  if (!made) return made.error();
  return drawings;
}

int ReportMany(const Job& job, const std::vector<std::string>& paths,
               const ReportArguments& arguments) {
  const Result<RankReport> ranks = ReadRanks(job, paths, arguments.options);
  const bool speaks = job.rank() == 0;
  const std::vector<uint32_t> drawn =
      Shared(job, ranks && speaks ? RanksToDraw(*ranks) : std::vector<uint32_t>());
  if (!ranks) return PrintError(ranks.error());
  const Result<std::vector<RankDrawing>> drawings = DrawRanks(job, paths, drawn, arguments);
  if (!drawings) return PrintError(drawings.error());
  if (!speaks) return kExitOk;
  const Result<void> written = WriteOutput(
      arguments.output, [&](std::ostream& out) { RenderRanksHtml(*ranks, *drawings, out); });
  if (!written) return PrintError(written.error());
  if (!arguments.open) LogWritten(arguments.output);
  return WarnIncomplete(*ranks);
}

int RunReport(const ReportArguments& arguments) {
  const Result<std::vector<std::string>> paths = ExpandTraces(arguments.traces);
  if (!paths) return PrintError(paths.error());
  if (paths->size() > 1 && std::ranges::find(*paths, "-") != paths->end()) {
    return PrintError(Error{.message = "one of many traces can't come from stdin: it is read twice",
                            .hint = "write it to a file first"});
  }
  const Job job;
  const int code = paths->size() > 1 ? ReportMany(job, *paths, arguments)
                   : job.rank() == 0 ? ReportOn(paths->front(), arguments)
                                     : kExitOk;
  if (!arguments.open || code == kExitBad || job.rank() != 0) return code;
  const Result<void> opened = ShowFile(arguments.output);
  return opened ? code : PrintError(opened.error());
}

std::vector<std::pair<std::string, std::optional<PolicyKind>>> PolicyChoices() {
  std::vector<std::pair<std::string, std::optional<PolicyKind>>> choices;
  for (const PolicyInfo& info : Policies()) choices.emplace_back(info.name, info.kind);
  choices.emplace_back("none", std::nullopt);
  return choices;
}

}  // namespace

void AddReportCommand(CLI::App& app, int& exit_code) {
  const auto [sub, arguments] =
      AddCommand<ReportArguments>(app, exit_code, RunReport, "report",
                                  "Write an interactive HTML report: memory, streams, findings",
                                  {"graphkit report trace.json -o report.html",
                                   "graphkit report trace.json --allocator pytorch --open",
                                   "graphkit report rank*.json -o report.html"});
  AddTraces(*sub, arguments->traces);
  AddOutput(*sub, arguments->output,
            "Write the page to FILE, which needs no network (report.html)");
  AddOpen(*sub, arguments->open);
  AddChoice<std::optional<PolicyKind>>(
      *sub, "--allocator", arguments->policy, PolicyChoices(),
      "Draw the placement of this policy beside the recorded one (default: reuse)");
  AddChecks(*sub, arguments->options.checks);
}

}  // namespace graphkit
