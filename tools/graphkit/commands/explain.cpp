// `graphkit explain`, and `graphkit FILE`: a summary of any file.
#include <chrono>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <utility>

#include "libgraphkit/analysis/analyze.h"
#include "libgraphkit/analysis/checks/checks.h"
#include "libgraphkit/io/files/file_about.h"
#include "libgraphkit/io/import/import.h"
#include "libgraphkit/render/explain/explain.h"
#include "tools/graphkit/check_pages.h"
#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/cli/progress.h"
#include "tools/graphkit/cli/talk.h"
#include "tools/graphkit/commands.h"
#include "tools/graphkit/files/input.h"
#include "tools/graphkit/files/output.h"

namespace graphkit {

namespace {

struct ExplainArguments {
  std::string file;
  bool stacks = false;
  View view;
};

// Bounds of large graphs would take longer than a first look may.
const AnalyzeOptions kQuick{.bound_time_limit = std::chrono::milliseconds(100)};

// Of a trace with graphs.
Result<std::optional<Report>> AnalyzeGraphs(const Facts& facts) {
  if (facts.trace.graphs.empty()) return std::optional<Report>();
  Result<Report> report = Analyze(facts, kQuick);
  if (!report) return report.error();
  return std::optional(std::move(*report));
}

int Write(const Explanation& explanation, const Trace& trace, const ExplainArguments& arguments) {
  const Result<void> written = WriteView(
      arguments.view, [&](std::ostream& out) { RenderExplanationJson(explanation, out); },
      [&](const TextStyle& style, std::ostream& out) {
        RenderExplanation(explanation, trace, {.text = style, .stacks = arguments.stacks}, out);
      });
  return written ? kExitOk : PrintError(written.error());
}

int RunExplain(const ExplainArguments& arguments) {
  if (FindCheck(arguments.file) && !std::filesystem::exists(arguments.file)) {
    std::cout << PageOf(arguments.file);
    return kExitOk;
  }
  std::optional<FileAbout> about = DescribeFolder(arguments.file);
  Result<std::unique_ptr<ByteSource>> source = std::unique_ptr<ByteSource>();
  if (!about) source = OpenFile(arguments.file);
  if (!source) {
    Error error = source.error();
    error.file = arguments.file;
    return PrintError(error);
  }
  if (!about) about = DescribeSource(*source, arguments.file);
  // A pipe can't be read again.
  std::error_code ignored;
  const bool once = !std::filesystem::is_regular_file(arguments.file, ignored);
  if (about) {
    if (once && about->kind != "folder") about->next.clear();
    return Write({.file = arguments.file, .about = *about}, {}, arguments);
  }
  const Result<Imported> imported = ReadImported(*std::move(source), arguments.file);
  if (!imported) return PrintError(imported.error());
  const Trace& trace = imported->trace;
  Progress progress("analyzing " + arguments.file, trace.graphs.size());
  const Facts facts = FindReportFacts(trace, kQuick, progress.done());
  const Result<std::optional<Report>> report = AnalyzeGraphs(facts);
  if (!report) return PrintError(report.error());
  const SnapshotInfo* snapshot = imported->snapshot ? &*imported->snapshot : nullptr;
  Explanation explanation = Explain({.file = arguments.file,
                                     .format = imported->format == nullptr ? "" : imported->format,
                                     .summary = imported->summary,
                                     .snapshot = snapshot,
                                     .memory = AccountForMemory(facts, snapshot),
                                     .report = *report ? &**report : nullptr},
                                    trace);
  if (once) explanation.about.next.clear();
  if (const int code = Write(explanation, trace, arguments); code != kExitOk) return code;
  return WarnIncomplete(trace, arguments.file);
}

}  // namespace

void AddExplainCommand(CLI::App& app, int& exit_code) {
  const auto [sub, arguments] = AddCommand<ExplainArguments>(
      app, exit_code, RunExplain, "explain",
      "Summarize a file: kind, holders of memory, findings and next steps",
      {"graphkit snapshot.pickle", "graphkit explain trace.json --format json",
       "graphkit explain snapshot.pickle --stacks --top 3"});
  sub->add_option(
         "file", arguments->file,
         "File that graphkit reads or writes, - for stdin, or a check; the word explain may be "
         "omitted before a file")
      ->required();
  AddView(*sub, arguments->view);
  AddTop(*sub, arguments->view.top);
  sub->add_flag("--stacks", arguments->stacks,
                "Also show the call stack of each line's largest block, with native frames");
}

}  // namespace graphkit
