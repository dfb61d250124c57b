// `graphkit FILE`: a summary of any file.
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "libgraphkit/analysis/analyze.h"
#include "libgraphkit/io/import/file_format.h"
#include "libgraphkit/render/explain/explain.h"
#include "tools/graphkit/cli/help_formatter.h"
#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/commands.h"
#include "tools/graphkit/files/input.h"
#include "tools/graphkit/files/output.h"
#include "tools/graphkit/terminal/progress.h"
#include "tools/graphkit/terminal/talk.h"

namespace graphkit {

namespace {

struct FileArguments {
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

int Write(const Explanation& explanation, const Ran& trace, const FileArguments& arguments) {
  const Result<void> written = WriteView(
      arguments.view, [&](std::ostream& out) { RenderExplanationJson(explanation, out); },
      [&](const TextOut& out) { RenderExplanation(explanation, trace, arguments.stacks, out); });
  return written ? kExitOk : PrintError(written.error());
}

// Input from a pipe can't be read again by another command.
int WriteNext(Explanation explanation, const Ran& trace, const FileArguments& arguments) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(arguments.file, ignored)) explanation.about.next.clear();
  return Write(explanation, trace, arguments);
}

int ExplainOther(OpenedFile file, const FileArguments& arguments) {
  const FileFormat& format = *file.format;
  const Result<FileBytes> bytes = ReadBytes(*file.source);
  FileAbout about = DescribeBytes(format, bytes ? bytes->text : file.head);
  return WriteNext(Explain(arguments.file, std::move(about)), {}, arguments);
}

int ExplainTrace(OpenedFile file, const FileArguments& arguments) {
  const Result<Ran> trace = ReadInput(std::move(file));
  if (!trace) return PrintError(trace.error());
  Progress progress("analyzing " + arguments.file, trace->graphs.size());
  const Facts facts = FindReportFacts(*trace, kQuick, progress.done());
  const Result<std::optional<Report>> report = AnalyzeGraphs(facts);
  if (!report) return PrintError(report.error());
  const FileFormat* format = FindFormat(FormatOf(*trace));  // null: of a later version
  const Explanation explanation =
      Explain(arguments.file, AboutFormat(format ? *format : TraceFormat()), *trace,
              AccountForMemory(facts), *report ? &**report : nullptr);
  const int code = WriteNext(explanation, *trace, arguments);
  return code == kExitOk ? WarnIncomplete(*trace, arguments.file) : code;
}

int RunFile(const FileArguments& arguments) {
  if (std::optional<FileAbout> folder = DescribeFolder(arguments.file)) {
    return Write(Explain(arguments.file, std::move(*folder)), {}, arguments);
  }
  Result<OpenedFile> file = OpenInput(arguments.file);
  if (!file) return PrintError(file.error());
  const bool described = file->format && !file->holds_trace();
  return described ? ExplainOther(std::move(*file), arguments)
                   : ExplainTrace(std::move(*file), arguments);
}

}  // namespace

void AddFileCommand(CLI::App& app, int& exit_code) {
  const auto [sub, arguments] = AddCommand<FileArguments>(
      app, exit_code, RunFile, kFileCommand,
      "Summarize a file: kind, holders of memory, findings and next steps",
      {"graphkit snapshot.pickle", "graphkit trace.json --format json",
       "graphkit snapshot.pickle --stacks --top 3"});
  sub->add_option(kFileCommand, arguments->file,
                  "File that graphkit reads or writes, a folder of traces, or - for stdin")
      ->required();
  AddView(*sub, arguments->view);
  AddTop(*sub, arguments->view.top);
  sub->add_flag("--stacks", arguments->stacks,
                "Also show the call stack of each line's largest block, with native frames");
}

}  // namespace graphkit
