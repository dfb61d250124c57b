// `graphkit report`: a trace as a page to look at.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libgraphkit/alloc/plan_report.h"
#include "libgraphkit/analysis/analyze.h"
#include "libgraphkit/render/report_html.h"
#include "tools/graphkit/commands.h"
#include "tools/graphkit/exit_codes.h"
#include "tools/graphkit/input.h"
#include "tools/graphkit/many_traces.h"
#include "tools/graphkit/options.h"
#include "tools/graphkit/output.h"
#include "tools/graphkit/progress.h"
#include "tools/graphkit/rank_input.h"
#include "tools/graphkit/talk.h"

namespace graphkit {

namespace {

struct ReportArguments {
  std::vector<std::string> traces;
  std::string output = "report.html";
  std::optional<PolicyKind> policy = PolicyKind::kReuse;
  AnalyzeOptions options;
};

Result<Report> AnalyzeInput(const Trace& trace, const std::string& path,
                            const ReportArguments& arguments) {
  const Progress progress("analyzing " + path);
  Result<Report> report = Analyze(trace, arguments.options);
  if (report) AddPlans(trace, arguments.options.edges, &*report);
  return report;
}

std::optional<PolicyReplay> ReplayPolicy(const Facts& facts, const std::string& path,
                                         const ReportArguments& arguments) {
  if (!arguments.policy) return std::nullopt;
  const Progress progress("replaying " + path);
  return ReplayTrace(facts, *arguments.policy, {.verify = true});
}

Result<void> WritePage(const ReportPage& page, const std::string& output) {
  const Progress progress("drawing " + page.file);
  return WriteOutput(output, [&](std::ostream& out) { RenderReportHtml(page, out); });
}

// `ranks`: of this trace and others; null: there are none.
int ReportOn(const std::string& path, const RankReport* ranks, const ReportArguments& arguments) {
  const Result<Trace> trace = ReadInput(path);
  if (!trace) return PrintError(trace.error());
  const Result<Report> report = AnalyzeInput(*trace, path, arguments);
  if (!report) return PrintError(report.error());
  const Facts facts = FindFacts(*trace);
  const std::optional<PolicyReplay> policy = ReplayPolicy(facts, path, arguments);
  const Result<void> written =
      WritePage({facts, *report, policy ? &*policy : nullptr, path, ranks}, arguments.output);
  if (!written) return PrintError(written.error());
  return ranks != nullptr ? WarnIncomplete(*ranks) : WarnIncomplete(*trace, path);
}

// The worst one is read a second time: until all were, which one that is isn't known.
int ReportMany(const Job& job, const std::vector<std::string>& paths,
               const ReportArguments& arguments) {
  const Result<RankReport> ranks = ReadRanks(job, paths, arguments.options);
  if (!ranks) return PrintError(ranks.error());
  if (job.rank() != 0) return kExitOk;
  return ReportOn(ranks->ranks[ranks->worst()].trace, &*ranks, arguments);
}

int RunReport(const ReportArguments& arguments) {
  const Result<std::vector<std::string>> paths = ExpandTraces(arguments.traces);
  if (!paths) return PrintError(paths.error());
  const Job job;
  if (paths->size() > 1) return ReportMany(job, *paths, arguments);
  return job.rank() == 0 ? ReportOn(paths->front(), nullptr, arguments) : kExitOk;
}

std::vector<std::pair<std::string, std::optional<PolicyKind>>> PolicyChoices() {
  std::vector<std::pair<std::string, std::optional<PolicyKind>>> choices;
  for (const PolicyInfo& info : Policies()) choices.emplace_back(info.name, info.kind);
  choices.emplace_back("none", std::nullopt);
  return choices;
}

}  // namespace

void AddReportCommand(CLI::App& app, int& exit_code) {
  CLI::App* sub =
      app.add_subcommand("report", "Write a page to look at: memory, streams, findings");
  const auto arguments = std::make_shared<ReportArguments>();
  AddTraces(*sub, arguments->traces);
  AddOutput(*sub, arguments->output, "the page, one file that needs no network (report.html)");
  AddChoice<std::optional<PolicyKind>>(
      *sub, "--policy", arguments->policy, PolicyChoices(),
      "draw the memory as this policy would place it beside the recorded one (default: reuse)");
  sub->add_option("--check", arguments->options.checks, "run these checks only, by their ids")
      ->option_text("ID,…")
      ->delimiter(',')
      ->allow_extra_args(false);
  SetExamples(*sub, {"graphkit report trace.json -o report.html",
                     "graphkit report trace.json --policy pytorch -o report.html",
                     "graphkit report rank*.json -o report.html"});
  sub->callback([&exit_code, arguments] { exit_code = RunReport(*arguments); });
}

}  // namespace graphkit
