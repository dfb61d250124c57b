// `graphkit diff`: differences between the memory and the graphs of two files.
#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "libgraphkit/analysis/analyze.h"
#include "libgraphkit/analysis/order/topology.h"
#include "libgraphkit/compare/diff.h"
#include "libgraphkit/compare/gate.h"
#include "libgraphkit/io/files/json_file.h"
#include "libgraphkit/render/diff/html.h"
#include "libgraphkit/render/diff/json.h"
#include "libgraphkit/render/diff/text.h"
#include "libgraphkit/render/report/data.h"
#include "tools/graphkit/check/check.h"
#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/commands.h"
#include "tools/graphkit/files/gate_files.h"
#include "tools/graphkit/files/input.h"
#include "tools/graphkit/files/many_traces.h"
#include "tools/graphkit/files/output.h"
#include "tools/graphkit/terminal/progress.h"
#include "tools/graphkit/terminal/talk.h"

namespace graphkit {

namespace {

enum class DiffFormat { kText, kJson, kHtml };

struct DiffArguments {
  std::string before, after;
  std::string output = "-";
  DiffFormat format = DiffFormat::kText;
  size_t top = TextStyle().top;
  bool layout = false;
};

Result<Report> AnalyzeSide(const Ran& trace, const std::string& path) {
  Progress progress("analyzing " + path, trace.graphs.size());
  return Analyze(FindReportFacts(trace, {}, progress.done()));
}

// One of the two files, as it was read and judged.
struct Side {
  std::string path;
  Ran trace;
  Report report;
  std::vector<MemoryAccount> memory = {};

  DiffSide shown() const { return {trace, path, memory}; }
};

Result<Side> ReadSide(const std::string& path) {
  Result<Ran> trace = ReadInput(path);
  if (!trace) return trace.error();
  return Side{path, std::move(*trace), {}};
}

// Memory is compared where one of them says what it did, and both know its sizes.
void AccountForBoth(Side* before, Side* after) {
  if (!HoldsMemoryHistory(before->trace) && !HoldsMemoryHistory(after->trace)) return;
  const auto known = [](const Side& side) { return side.report.unknown_memory.empty(); };
  if (!known(*before) || !known(*after)) return;
  const auto has_history = [](const Side& side) {
    return HistoryOf(side.trace) == nullptr || !side.trace.history_events.empty();
  };
  const Told told = has_history(*before) == has_history(*after) ? Told::kMost : Told::kEnd;
  for (Side* side : {before, after}) {
    side->memory = AccountForMemory(MemoryFacts(side->trace), told);
  }
}

TraceDiff Compare(const Side& before, const Side& after) {
  const Progress progress("comparing");
  TraceDiff diff = DiffTraces(before.trace, before.report, after.trace, after.report);
  diff.memory = DiffMemory({before.trace, before.memory}, {after.trace, after.memory});
  return diff;
}

// The graphs' own differences besides the addresses of their memory.
TraceDiff CompareLayout(const Side& before, const Side& after) {
  const Progress progress("comparing");
  TraceDiff diff = DiffTraces(before.trace, before.report, after.trace, after.report);
  diff.findings = FindLayoutDiff(before.trace, after.trace);
  return diff;
}

std::string DrawMemory(const Side& side) {
  const Facts facts = FindReportFacts(side.trace);
  return PackDrawing({facts, side.report, nullptr, side.path, side.memory});
}

// Compared memory, of both.
DrawnSides DrawBoth(const Side& before, const Side& after) {
  if (before.memory.empty() || after.memory.empty()) return {};
  const Progress progress("drawing");
  return {DrawMemory(before), DrawMemory(after)};
}

Result<void> WriteDiff(const TraceDiff& diff, const Side& from, const Side& to,
                       const DiffArguments& arguments) {
  const DiffSide before = from.shown(), after = to.shown();
  const TextStyle style = StyleFor(arguments.output, arguments.top);
  const DrawnSides drawn =
      arguments.format == DiffFormat::kHtml ? DrawBoth(from, to) : DrawnSides();
  return WriteOutput(arguments.output, [&](std::ostream& out) {
    switch (arguments.format) {
      case DiffFormat::kText:
        return RenderDiffText(diff, before, after, {style, out});
      case DiffFormat::kJson:
        return RenderDiffJson(diff, before, after, out);
      case DiffFormat::kHtml:
        return RenderDiffHtml(diff, before, after, drawn, out);
    }
  });
}

// Of a trace without graph and memory nothing can be said; what isn't known is left out.
int WarnBlind(const Side& side) {
  const bool graph = !side.trace.graph_nodes.empty();
  if (!graph && side.memory.empty()) {
    PrintWarning(side.path + ": nothing to compare: it holds " +
                 (side.trace.blocks.empty() ? "no graph and no memory" : "no graph"));
    return kExitIncomplete;
  }
  if (graph && !side.report.unknown_memory.empty()) {
    PrintNote(side.path +
              ": bytes aren't compared: its memory is unknown: " + side.report.unknown_memory);
  }
  return kExitOk;
}

bool IsBaseline(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;  // a pipe is read once
  const Result<OpenedFile> file = OpenInput(path);
  return file && file->format != nullptr && std::string_view(file->format->name) == "baseline";
}

// A baseline has figures and lines of graphs, and not the graphs: what differs of these, as
// `graphkit check --baseline` has it.
int DiffFromBaseline(const DiffArguments& arguments) {
  if (arguments.format == DiffFormat::kHtml || arguments.layout)
    return PrintError(Error{.message = "a baseline has no graphs to draw or to lay out",
                            .hint = "keep a trace to compare with",
                            .file = arguments.before});
  const Result<Baseline> baseline = ReadWith(ParseBaseline, arguments.before);
  if (!baseline) return PrintError(baseline.error());
  Result<std::vector<GateSubject>> subjects = ReadSubjects(Job(), {arguments.after});
  if (!subjects) return PrintError(subjects.error());
  const GateVerdict verdict = JudgeGate(*subjects, {.fail_on_severity = {}}, *baseline);
  const GateRun run{.subjects = *std::move(subjects), .verdict = verdict};
  const TextStyle style = StyleFor(arguments.output, arguments.top);
  const Result<void> written = WriteOutput(arguments.output, [&](std::ostream& out) {
    if (arguments.format == DiffFormat::kJson) return RenderCheckJson(run, out);
    RenderCheckText(run, {style, out});
  });
  return written ? run.verdict.exit_code : PrintError(written.error());
}

int RunDiff(const DiffArguments& arguments) {
  if (IsBaseline(arguments.before)) return DiffFromBaseline(arguments);
  Result<Side> before = ReadSide(arguments.before);
  if (!before) return PrintError(before.error());
  Result<Side> after = ReadSide(arguments.after);
  if (!after) return PrintError(after.error());
  for (Side* side : {&*before, &*after}) {
    Result<Report> report = AnalyzeSide(side->trace, side->path);
    if (!report) return PrintError(report.error());
    side->report = std::move(*report);
  }
  AccountForBoth(&*before, &*after);
  const int incomplete =
      std::max({WarnIncomplete(before->trace, before->path),
                WarnIncomplete(after->trace, after->path), WarnBlind(*before), WarnBlind(*after)});
  const TraceDiff diff =
      arguments.layout ? CompareLayout(*before, *after) : Compare(*before, *after);
  const Result<void> written = WriteDiff(diff, *before, *after, arguments);
  if (!written) return PrintError(written.error());
  if (incomplete != kExitOk) return incomplete;
  return diff.equal() ? kExitOk : kExitFailed;
}

}  // namespace

void AddDiffCommand(CLI::App& app, int& exit_code) {
  const auto [sub, arguments] = AddCommand<DiffArguments>(
      app, exit_code, RunDiff, "diff", "Compare the memory and the graphs of two files",
      {"graphkit before.pickle after.pickle", "graphkit diff before.json after.json",
       "graphkit diff before.json after.json --format html -o diff.html",
       "graphkit diff rank0.json rank1.json --format json -o diff.json"});
  sub->add_option(
         "before", arguments->before,
         "Trace, memory snapshot, or baseline of graphkit check, or - for stdin; the word diff may "
         "be omitted before two files")
      ->required();
  sub->add_option("after", arguments->after,
                  "File to compare it with; exit code 1 when they differ")
      ->required();
  sub->add_flag(
      "--layout", arguments->layout,
      "Compare the addresses of allocations instead of the memory: the first that differs, "
      "and why");
  const CLI::Option* format = AddChoice<DiffFormat>(
      *sub, "--format", arguments->format,
      {{"text", DiffFormat::kText}, {"json", DiffFormat::kJson}, {"html", DiffFormat::kHtml}},
      "Print text (the default), JSON with a stable schema, or a page that draws the changes");
  AddOutput(*sub, arguments->output);
  FollowName<DiffFormat>(*sub, format, arguments->output, arguments->format,
                         {{".json", DiffFormat::kJson}, {".html", DiffFormat::kHtml}});
  AddTop(*sub, arguments->top);
}

}  // namespace graphkit
