// `graphkit export`: a trace in the formats of other tools.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/commands.h"
#include "tools/graphkit/export/export.h"
#include "tools/graphkit/files/input.h"
#include "tools/graphkit/files/many_traces.h"
#include "tools/graphkit/files/output.h"
#include "tools/graphkit/terminal/talk.h"

namespace graphkit {

namespace {

struct ExportArguments {
  std::vector<std::string> traces;
  std::string output = "-";
  std::optional<ExportFormat> format;
  ExportStyle style;
};

int ExportOne(const std::string& path, const ExportArguments& arguments) {
  const Result<Ran> trace = ReadInput(path);
  if (!trace) return PrintError(trace.error());
  const Result<void> written = WriteOutput(
      arguments.output, [&](std::ostream& out) { RenderExport(*trace, arguments.style, out); });
  if (!written) return PrintError(written.error());
  return WarnIncomplete(*trace, path);
}

// A trace's part of the file: a line on missing records, a 0, the rows.
Result<std::string> MakePart(const std::vector<std::string>& paths, const std::string& path,
                             const ExportStyle& style) {
  const Result<Ran> trace = ReadQuietly(path);
  if (!trace) return trace.error();
  const auto rank = static_cast<uint32_t>(std::ranges::find(paths, path) - paths.begin());
  return WhatIsMissing(*trace) + '\0' + ExportPart(*trace, path, rank, style);
}

int ExportMany(const Job& job, const std::vector<std::string>& paths,
               const ExportArguments& arguments) {
  const ExportFormat format = arguments.style.format;
  const auto make = [&](const std::string& path) { return MakePart(paths, path, arguments.style); };
  const ManyTraces many{.paths = paths, .threads = 0, .doing = "exporting"};
  Result<void> made;
  if (job.rank() != 0) {
    const Result<void> sent = MakeAll(job, many, make, {});
    return sent ? kExitOk : PrintError(sent.error());
  }
  int exit_code = kExitOk;
  const Result<void> written = WriteOutput(arguments.output, [&](std::ostream& out) {
    made = MakeAll(job, many, make, [&](size_t index, const std::string& part) {
      const size_t missing = part.find('\0');
      if (missing > 0) exit_code = WarnMissing(part.substr(0, missing), paths[index]);
      out << ExportBefore(static_cast<uint32_t>(index), format)
          << std::string_view(part).substr(missing + 1);
    });
    out << ExportEnd(format);
    if (!made) out.setstate(std::ios::failbit);  // no file is better than a part of one
  });
  if (!made) return PrintError(made.error());
  if (!written) return PrintError(written.error());
  return exit_code;
}

int RunExport(ExportArguments& arguments) {
  if (!arguments.format) {
    return PrintError(Error{
        .message = "export needs --format, or a name that ends in .csv",
        .hint = "for example: graphkit export trace.json --format perfetto -o timeline.json"});
  }
  arguments.style.format = *arguments.format;
  const Result<std::vector<std::string>> paths = ExpandTraces(arguments.traces);
  if (!paths) return PrintError(paths.error());
  const Job job;
  if (paths->size() > 1) return ExportMany(job, *paths, arguments);
  return job.rank() == 0 ? ExportOne(paths->front(), arguments) : kExitOk;
}

}  // namespace

void AddExportCommand(CLI::App& app, int& exit_code) {
  const auto [sub, arguments] = AddCommand<ExportArguments>(
      app, exit_code, RunExport, "export", "Convert a trace to the format of another tool",
      {"graphkit export trace.json --format perfetto -o timeline.json",
       "graphkit export trace.json --table blocks -o blocks.csv",
       "graphkit export rank*.json --format perfetto -o ranks-timeline.json"});
  AddTraces(*sub, arguments->traces);
  const CLI::Option* format = AddChoice<std::optional<ExportFormat>>(
      *sub, "--format", arguments->format,
      {{"perfetto", ExportFormat::kPerfetto},
       {"json", ExportFormat::kJson},
       {"csv", ExportFormat::kCsv}},
      "A timeline for ui.perfetto.dev, graphs with their nodes and edges as JSON, or a table (the "
      "default where -o ends in .csv)");
  AddOutput(*sub, arguments->output);
  FollowName<std::optional<ExportFormat>>(*sub, format, arguments->output, arguments->format,
                                          {{".csv", ExportFormat::kCsv}});
  AddChoice<TimeAxis>(
      *sub, "--clock", arguments->style.axis,
      {{"order", TimeAxis::kOrder}, {"host", TimeAxis::kHost}},
      "Perfetto: place each record 1 µs after the last (the default), or at the host's time");
  AddChoice<CsvTable>(*sub, "--table", arguments->style.table,
                      {{"nodes", CsvTable::kNodes},
                       {"edges", CsvTable::kEdges},
                       {"blocks", CsvTable::kBlocks},
                       {"launches", CsvTable::kLaunches},
                       {"exec-nodes", CsvTable::kExecNodes}},
                      "CSV: the table to write (default: nodes)");
}

}  // namespace graphkit
