// `graphkit diff`: what differs between two traces.
#include <algorithm>
#include <string>

#include "libgraphkit/analysis/analyze.h"
#include "libgraphkit/analysis/order/topology.h"
#include "libgraphkit/compare/diff.h"
#include "libgraphkit/render/diff/diff.h"
#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/cli/progress.h"
#include "tools/graphkit/cli/talk.h"
#include "tools/graphkit/commands.h"
#include "tools/graphkit/files/input.h"
#include "tools/graphkit/files/output.h"

namespace graphkit {

namespace {

enum class DiffFormat { kText, kJson, kDot, kHtml };

struct DiffArguments {
  std::string before, after;
  std::string output = "-";
  DiffFormat format = DiffFormat::kText;
  size_t top = TextStyle().top;
};

Result<Report> AnalyzeSide(const Trace& trace, const std::string& path) {
  Progress progress("analyzing " + path, trace.graphs.size());
  return Analyze(FindReportFacts(trace, {}, progress.done()));
}

TraceDiff Compare(const Trace& before, const Report& before_report, const Trace& after,
                  const Report& after_report) {
  const Progress progress("comparing");
  return DiffTraces(before, before_report, after, after_report);
}

Result<void> WriteDiff(const TraceDiff& diff, const DiffSide& before, const DiffSide& after,
                       const DiffArguments& arguments) {
  const TextStyle style = StyleFor(arguments.output, arguments.top);
  return WriteOutput(arguments.output, [&](std::ostream& out) {
    switch (arguments.format) {
      case DiffFormat::kText:
        return RenderDiffText(diff, before, after, style, out);
      case DiffFormat::kJson:
        return RenderDiffJson(diff, before, after, out);
      case DiffFormat::kDot:
        return RenderDiffDot(diff, before, after, out);
      case DiffFormat::kHtml:
        return RenderDiffHtml(diff, before, after, out);
    }
  });
}

// Of a trace without a graph nothing can be said; what isn't known is left out.
int WarnBlind(const Trace& trace, const Report& report, const std::string& path) {
  if (!HoldsGraph(trace)) {
    PrintWarning(path + ": nothing to compare: it holds no graph");
    return kExitIncomplete;
  }
  if (!report.unknown_memory.empty()) {
    PrintNote(path + ": bytes aren't compared: its memory is unknown: " + report.unknown_memory);
  }
  return kExitOk;
}

int RunDiff(const DiffArguments& arguments) {
  const Result<Trace> before = ReadInput(arguments.before);
  if (!before) return PrintError(before.error());
  const Result<Trace> after = ReadInput(arguments.after);
  if (!after) return PrintError(after.error());
  const Result<Report> before_report = AnalyzeSide(*before, arguments.before);
  if (!before_report) return PrintError(before_report.error());
  const Result<Report> after_report = AnalyzeSide(*after, arguments.after);
  if (!after_report) return PrintError(after_report.error());
  const int incomplete =
      std::max({WarnIncomplete(*before, arguments.before), WarnIncomplete(*after, arguments.after),
                WarnBlind(*before, *before_report, arguments.before),
                WarnBlind(*after, *after_report, arguments.after)});
  const TraceDiff diff = Compare(*before, *before_report, *after, *after_report);
  const Result<void> written =
      WriteDiff(diff, {*before, arguments.before}, {*after, arguments.after}, arguments);
  if (!written) return PrintError(written.error());
  if (incomplete != kExitOk) return incomplete;
  return diff.equal() ? kExitOk : kExitFailed;
}

}  // namespace

void AddDiffCommand(CLI::App& app, int& exit_code) {
  const auto [sub, arguments] = AddCommand<DiffArguments>(
      app, exit_code, RunDiff, "diff", "Say what differs between two traces",
      {"graphkit diff before.json after.json",
       "graphkit diff before.json after.json --format html -o diff.html",
       "graphkit diff before.json after.json --format dot | dot -Tsvg > diff.svg",
       "graphkit diff rank0.json rank1.json --format json -o diff.json"});
  sub->add_option("before", arguments->before, "a trace, or - for stdin")->required();
  sub->add_option("after", arguments->after, "the trace to compare it with")->required();
  const CLI::Option* format = AddChoice<DiffFormat>(
      *sub, "--format", arguments->format,
      {{"text", DiffFormat::kText},
       {"json", DiffFormat::kJson},
       {"dot", DiffFormat::kDot},
       {"html", DiffFormat::kHtml}},
      "text for people (the default), JSON with a stable schema, a drawing of "
      "what changed, or a page to look at");
  AddOutput(*sub, arguments->output, "where to (default: stdout)");
  FollowName<DiffFormat>(
      *sub, format, arguments->output, arguments->format,
      {{".json", DiffFormat::kJson}, {".dot", DiffFormat::kDot}, {".html", DiffFormat::kHtml}});
  AddCount(*sub, "--top", arguments->top,
           "entries of long lists in the text; 0: all (default: 10)");
}

}  // namespace graphkit
