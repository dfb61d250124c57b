// `graphkit export`: a trace in the formats of other tools.
#include <memory>
#include <string>

#include "libgraphkit/render/chrome_trace.h"
#include "libgraphkit/render/export_csv.h"
#include "libgraphkit/render/export_json.h"
#include "libgraphkit/render/perfetto.h"
#include "libgraphkit/render/timeline.h"
#include "tools/graphkit/commands.h"
#include "tools/graphkit/exit_codes.h"
#include "tools/graphkit/input.h"
#include "tools/graphkit/options.h"
#include "tools/graphkit/output.h"
#include "tools/graphkit/talk.h"

namespace graphkit {

namespace {

enum class ExportFormat { kPerfetto, kChrome, kJson, kCsv };

struct ExportArguments {
  std::string trace;
  std::string output = "-";
  ExportFormat format = ExportFormat::kPerfetto;
  TimeAxis axis = TimeAxis::kOrder;
  CsvTable table = CsvTable::kNodes;
};

void Render(const Trace& trace, const ExportArguments& arguments, std::ostream& out) {
  switch (arguments.format) {
    case ExportFormat::kPerfetto:
      return RenderPerfetto(MakeTimeline(trace, arguments.axis), out);
    case ExportFormat::kChrome:
      return RenderChromeTrace(MakeTimeline(trace, arguments.axis), out);
    case ExportFormat::kJson:
      return RenderGraphsJson(trace, out);
    case ExportFormat::kCsv:
      return RenderCsv(trace, arguments.table, out);
  }
}

int RunExport(const ExportArguments& arguments) {
  const Result<Trace> trace = ReadInput(arguments.trace);
  if (!trace) return PrintError(trace.error());
  const Result<void> written =
      WriteOutput(arguments.output, [&](std::ostream& out) { Render(*trace, arguments, out); });
  if (!written) return PrintError(written.error());
  return WarnIncomplete(*trace, arguments.trace);
}

}  // namespace

void AddExportCommand(CLI::App& app, int& exit_code) {
  CLI::App* sub = app.add_subcommand("export", "Write a trace in the format of another tool");
  const auto arguments = std::make_shared<ExportArguments>();
  AddTrace(*sub, arguments->trace);
  AddChoice<ExportFormat>(*sub, "--format", arguments->format,
                          {{"perfetto", ExportFormat::kPerfetto},
                           {"chrome", ExportFormat::kChrome},
                           {"json", ExportFormat::kJson},
                           {"csv", ExportFormat::kCsv}},
                          "for ui.perfetto.dev, for chrome://tracing, graphs with "
                          "their nodes and edges as JSON, or a table")
      ->required();
  AddOutput(*sub, arguments->output, "where to (default: stdout)");
  AddChoice<TimeAxis>(*sub, "--time", arguments->axis,
                      {{"order", TimeAxis::kOrder}, {"host", TimeAxis::kHost}},
                      "perfetto, chrome: 1 µs for each record (the default), or when the host made "
                      "the call");
  AddChoice<CsvTable>(*sub, "--table", arguments->table,
                      {{"nodes", CsvTable::kNodes},
                       {"edges", CsvTable::kEdges},
                       {"blocks", CsvTable::kBlocks},
                       {"launches", CsvTable::kLaunches}},
                      "csv: which one (default: nodes)");
  SetExamples(*sub, {"graphkit export trace.json --format perfetto -o trace.pftrace",
                     "graphkit export trace.json --format csv --table blocks -o blocks.csv"});
  sub->callback([&exit_code, arguments] { exit_code = RunExport(*arguments); });
}

}  // namespace graphkit
