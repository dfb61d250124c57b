// `graphkit analyze`: what a trace's graphs hold, and what to do about it.
#include <optional>
#include <string>
#include <vector>

#include "libgraphkit/alloc/plan/plan_trace.h"
#include "libgraphkit/analysis/analyze.h"
#include "libgraphkit/analysis/coverage.h"
#include "libgraphkit/render/analyze/analyze.h"
#include "libgraphkit/render/analyze/coverage.h"
#include "libgraphkit/render/analyze/memory_bill.h"
#include "libgraphkit/render/ranks/ranks.h"
#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/cli/progress.h"
#include "tools/graphkit/cli/talk.h"
#include "tools/graphkit/commands.h"
#include "tools/graphkit/files/held_at.h"
#include "tools/graphkit/files/input.h"
#include "tools/graphkit/files/many_traces.h"
#include "tools/graphkit/files/output.h"

namespace graphkit {

namespace {

struct AnalyzeArguments {
  std::vector<std::string> traces;
  std::string output = "-";
  Format format = Format::kText;
  size_t top = TextStyle{}.top;
  std::optional<BillBy> by;
  std::string at;  // empty: not asked for
  bool coverage = false;
  AnalyzeOptions options;
};

Result<Report> AnalyzeInput(const Trace& trace, const std::string& path,
                            const AnalyzeArguments& arguments) {
  Progress progress("analyzing " + path, trace.graphs.size());
  const Facts facts = FindReportFacts(trace, arguments.options, progress.done());
  progress.Next("checking " + path);
  Result<Report> report = Analyze(facts, arguments.options);
  progress.Next("planning " + path);
  if (report) AddPlans(facts, &*report);
  return report;
}

void Render(const Report& report, const Imported& imported, const HeldAt& at,
            const AnalyzeArguments& arguments, std::ostream& out) {
  const Trace& trace = imported.trace;
  const Seq first_event = imported.snapshot ? imported.snapshot->first_event : 0;
  const bool memory_only =
      !arguments.at.empty() || (report.graphs.empty() && !trace.segments.empty());
  const BillBy otherwise = !arguments.at.empty() ? BillBy::kStack
                           : memory_only         ? BillBy::kPool
                                                 : BillBy::kBlock;
  const BillBy by = arguments.by.value_or(otherwise);
  std::vector<MemoryBill> bills;
  std::vector<HeldLine> held;
  if (arguments.by) bills = BillMemory(trace, report, by);
  if (arguments.by || memory_only) held = BillHeld(trace, by, at, first_event);
  if (arguments.format == Format::kJson) return RenderJson(report, trace, out, bills, held, by, at);
  const TextStyle style = StyleFor(arguments.output, arguments.top);
  RenderText(report, trace, style, out);
  RenderBills(trace, bills, by, style, out);
  RenderHeld(held, by, at, style, out);
}

int AnalyzeOne(const std::string& path, const AnalyzeArguments& arguments) {
  const Result<Imported> imported = ReadImported(path);
  if (!imported) return PrintError(imported.error());
  const Trace& trace = imported->trace;
  const Result<HeldAt> at = FindHeldAt(arguments.at, *imported, path);
  if (!at) return PrintError(at.error());
  const Result<Report> report = AnalyzeInput(trace, path, arguments);
  if (!report) return PrintError(report.error());
  const Result<void> written = WriteOutput(arguments.output, [&](std::ostream& out) {
    Render(*report, *imported, *at, arguments, out);
  });
  if (!written) return PrintError(written.error());
  return WarnIncomplete(trace, path);
}

// The view of `--coverage`, which needs nothing of the others.
int ShowCoverage(const std::string& path, const AnalyzeArguments& arguments) {
  const Result<Imported> imported = ReadImported(path);
  if (!imported) return PrintError(imported.error());
  const Trace& trace = imported->trace;
  const Coverage coverage = FindCoverage(trace);
  const Result<void> written = WriteOutput(arguments.output, [&](std::ostream& out) {
    if (arguments.format == Format::kJson) return RenderCoverageJson(coverage, trace, out);
    RenderCoverageText(coverage, trace, StyleFor(arguments.output, arguments.top), out);
  });
  if (!written) return PrintError(written.error());
  return WarnIncomplete(trace, path);
}

int AnalyzeMany(const Job& job, const std::vector<std::string>& paths,
                const AnalyzeArguments& arguments) {
  if (arguments.by) return PrintError(Error{.message = "--by is for one trace"});
  if (!arguments.at.empty()) return PrintError(Error{.message = "--at is for one trace"});
  if (arguments.coverage) return PrintError(Error{.message = "--coverage is for one trace"});
  const Result<RankReport> report = ReadRanks(job, paths, arguments.options);
  if (!report) return PrintError(report.error());
  if (job.rank() != 0) return kExitOk;
  const Result<void> written = WriteOutput(arguments.output, [&](std::ostream& out) {
    if (arguments.format == Format::kJson) return RenderRanksJson(*report, out);
    RenderRanksText(*report, StyleFor(arguments.output, arguments.top), out);
  });
  if (!written) return PrintError(written.error());
  return WarnIncomplete(*report);
}

int RunAnalyze(const AnalyzeArguments& arguments) {
  const Result<std::vector<std::string>> paths = ExpandTraces(arguments.traces);
  if (!paths) return PrintError(paths.error());
  const Job job;
  if (paths->size() > 1) return AnalyzeMany(job, *paths, arguments);
  if (job.rank() == 0 && arguments.coverage) return ShowCoverage(paths->front(), arguments);
  return job.rank() == 0 ? AnalyzeOne(paths->front(), arguments) : kExitOk;
}

}  // namespace

void AddAnalyzeCommand(CLI::App& app, int& exit_code) {
  const auto [sub, arguments] = AddCommand<AnalyzeArguments>(
      app, exit_code, RunAnalyze, "analyze",
      "Say what each graph holds: memory, what could share it, leaks, hazards",
      {"graphkit analyze trace.json", "graphkit analyze trace.json --by stack --top 20",
       "graphkit analyze trace.json --format json | jq '.findings[].message'",
       "graphkit analyze snapshot.pickle --at peak --by stack", "graphkit analyze rank*.json",
       "graphkit analyze trace.json --coverage"});
  AddTraces(*sub, arguments->traces);
  AddView(*sub, arguments->format, arguments->output);
  AddChecks(*sub, arguments->options.checks);
  AddSize(*sub, "--min-bytes", arguments->options.min_bytes,
          "leave out findings about fewer bytes: 4096, 1MiB, 1.5GiB");
  AddChoice<EdgeRule>(*sub, "--edges", arguments->options.edges,
                      {{"strict", EdgeRule::kCompletion}, {"pytorch", EdgeRule::kAllFull}},
                      "strict (the default): edges mean what CUDA says; pytorch: every edge means "
                      "completion, and what would be reused without proof is a finding");
  AddCount(*sub, "--top", arguments->top,
           "entries shown of each list in the text; 0: all (default: 10)");
  AddChoice<std::optional<BillBy>>(*sub, "--by", arguments->by,
                                   {{"block", BillBy::kBlock},
                                    {"stack", BillBy::kStack},
                                    {"stream", BillBy::kStream},
                                    {"pool", BillBy::kPool}},
                                   "also list each graph's memory by what asked for it");
  sub->add_option(
         "--at", arguments->at,
         "also list who held memory then, by stack unless --by says otherwise: at the peak "
         "in use, at the end, or after an event of a snapshot, a record of a trace")
      ->option_text("peak|end|EVENT")
      ->check(CheckMoment);
  sub->add_flag("--coverage", arguments->coverage,
                "show instead how much runs in graphs: kernel launches, copies and their bytes, by "
                "stream and NVTX range, and which kernels don't and why (with --scope all)")
      ->excludes("--by", "--at", "--check", "--min-bytes", "--edges");
}

}  // namespace graphkit
