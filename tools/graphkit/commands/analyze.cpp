// `graphkit analyze`: the memory of a trace's graphs, and the findings.
#include <optional>
#include <string>
#include <vector>

#include "libgraphkit/alloc/plan/plan_trace.h"
#include "libgraphkit/analysis/analyze.h"
#include "libgraphkit/analysis/launches/content.h"
#include "libgraphkit/analysis/launches/coverage.h"
#include "libgraphkit/analysis/memory/memory_bill.h"
#include "libgraphkit/render/analyze/coverage.h"
#include "libgraphkit/render/analyze/json.h"
#include "libgraphkit/render/analyze/text.h"
#include "libgraphkit/render/ranks/ranks.h"
#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/commands.h"
#include "tools/graphkit/files/input.h"
#include "tools/graphkit/files/many_traces.h"
#include "tools/graphkit/terminal/progress.h"
#include "tools/graphkit/terminal/talk.h"

namespace graphkit {

namespace {

struct AnalyzeArguments {
  std::vector<std::string> traces;
  std::optional<BillBy> by;
  std::string at;  // empty: not given
  bool coverage = false;
  AnalyzeOptions options;
  View view;
};

Result<Report> AnalyzeInput(const Ran& trace, const std::string& path,
                            const AnalyzeArguments& arguments) {
  Progress progress("analyzing " + path, trace.graphs.size());
  const Facts facts = FindReportFacts(trace, arguments.options, progress.done());
  Result<Report> report = Analyze(facts, arguments.options);
  progress.Next("planning " + path);
  if (report) AddPlans(facts, &*report);
  return report;
}

Result<void> Write(const Report& report, const Ran& trace, const HeldAt& at,
                   const AnalyzeArguments& arguments) {
  const bool memory_only =
      !arguments.at.empty() || (report.graphs.empty() && !trace.segments.empty());
  const BillBy otherwise = !arguments.at.empty() ? BillBy::kStack
                           : memory_only         ? BillBy::kPool
                                                 : BillBy::kBlock;
  const BillBy by = arguments.by.value_or(otherwise);
  std::vector<MemoryBill> bills;
  std::vector<HeldLine> held;
  std::vector<std::string_view> classes;
  if (by == BillBy::kContent) {
    const Facts facts(trace);
    classes = ClassesOfBlocks(trace, FindContent(facts, MarkerRule::kLastUse));
  }
  if (arguments.by) bills = BillMemory(trace, report, by, classes);
  if (arguments.by || memory_only) held = BillHeld(trace, by, at, classes);
  std::optional<Coverage> coverage;
  if (arguments.coverage) coverage = FindCoverage(Facts(trace));
  return WriteView(
      arguments.view,
      [&](std::ostream& out) {
        RenderJson(report, trace, out, bills, held, by, at, coverage ? &*coverage : nullptr);
      },
      [&](const TextOut& out) {
        RenderText(report, trace, out);
        // Graphs share pools: one bill for all.
        const bool together = by == BillBy::kPool && bills.size() > 1;
        RenderBills(trace, together ? std::vector{SumBills(bills)} : bills, by, out);
        RenderHeld(held, by, at, out);
        if (coverage) RenderCoverage(*coverage, trace, out << "\n");
      });
}

int AnalyzeOne(const std::string& path, const AnalyzeArguments& arguments) {
  const Result<Ran> trace = ReadInput(path);
  if (!trace) return PrintError(trace.error());
  Result<HeldAt> at = FindHeldAt(arguments.at, *trace);
  if (!at) {
    at.error().file = path;
    return PrintError(at.error());
  }
  const Result<Report> report = AnalyzeInput(*trace, path, arguments);
  if (!report) return PrintError(report.error());
  const Result<void> written = Write(*report, *trace, *at, arguments);
  return written ? WarnIncomplete(*trace, path) : PrintError(written.error());
}

int AnalyzeMany(const Job& job, const std::vector<std::string>& paths,
                const AnalyzeArguments& arguments) {
  if (arguments.by) return PrintError(Error{.message = "--by is for one trace"});
  if (!arguments.at.empty()) return PrintError(Error{.message = "--at is for one trace"});
  if (arguments.coverage) return PrintError(Error{.message = "--coverage is for one trace"});
  const Result<RankReport> report = ReadRanks(job, paths, arguments.options);
  if (!report) return PrintError(report.error());
  if (job.rank() != 0) return kExitOk;
  const Result<void> written = WriteView(
      arguments.view, [&](std::ostream& out) { RenderRanksJson(*report, out); },
      [&](const TextOut& out) { RenderRanksText(*report, out); });
  return written ? WarnIncomplete(*report) : PrintError(written.error());
}

int RunAnalyze(const AnalyzeArguments& arguments) {
  const Result<std::vector<std::string>> paths = ExpandTraces(arguments.traces);
  if (!paths) return PrintError(paths.error());
  const Job job;
  if (paths->size() > 1) return AnalyzeMany(job, *paths, arguments);
  return job.rank() == 0 ? AnalyzeOne(paths->front(), arguments) : kExitOk;
}

}  // namespace

void AddAnalyzeCommand(CLI::App& app, int& exit_code) {
  const auto [sub, arguments] = AddCommand<AnalyzeArguments>(
      app, exit_code, RunAnalyze, "analyze",
      "Report each graph's memory, reuse opportunities, leaks and hazards",
      {"graphkit analyze trace.json", "graphkit analyze trace.json --by stack --top 20",
       "graphkit analyze trace.json --format json | jq '.findings[].message'",
       "graphkit analyze snapshot.pickle --at peak --by stack", "graphkit analyze rank*.json"});
  AddTraces(*sub, arguments->traces);
  AddView(*sub, arguments->view);
  AddTop(*sub, arguments->view.top);
  AddChecks(*sub, arguments->options.checks);
  AddSize(*sub, "--min-bytes", arguments->options.min_bytes,
          "Omit findings about fewer bytes: 4096, 1MiB, 1.5GiB");
  AddChoice<EdgeRule>(*sub, "--edges", arguments->options.edges,
                      {{"strict", EdgeRule::kCompletion}, {"pytorch", EdgeRule::kAllFull}},
                      "strict (the default): edges order as CUDA defines them; pytorch: every edge "
                      "means completion, and reuse without proof is a finding");
  AddChoice<std::optional<BillBy>>(
      *sub, "--by", arguments->by,
      {{"block", BillBy::kBlock},
       {"stack", BillBy::kStack},
       {"stream", BillBy::kStream},
       {"pool", BillBy::kPool},
       {"content", BillBy::kContent}},
      "Also list each graph's memory by block, call stack, stream, pool or what becomes of its "
      "content");
  sub->add_option("--at", arguments->at,
                  "Also list the holders of memory (by stack without --by) at the peak in use, at "
                  "the end, or "
                  "after an event of a snapshot or a record of a trace")
      ->option_text("peak|end|EVENT")
      ->check(CheckMoment);
  sub->add_flag("--coverage", arguments->coverage,
                "Also report the kernel launches and copies that run in graphs, and those that "
                "don't (recorded with trace --scope all)");
}

}  // namespace graphkit
