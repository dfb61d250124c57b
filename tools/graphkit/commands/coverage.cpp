// `graphkit coverage`: the share of a program's work that runs in graphs.
#include <string>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/analysis/launches/coverage.h"
#include "libgraphkit/render/analyze/analyze.h"
#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/cli/talk.h"
#include "tools/graphkit/commands.h"
#include "tools/graphkit/files/input.h"

namespace graphkit {

namespace {

struct CoverageArguments {
  std::string file;
  View view;
};

int RunCoverage(const CoverageArguments& arguments) {
  const Result<Trace> trace = ReadInput(arguments.file);
  if (!trace) return PrintError(trace.error());
  const Coverage coverage = FindCoverage(Facts(*trace));
  const Result<void> written = WriteView(
      arguments.view, [&](std::ostream& out) { RenderCoverageJson(coverage, *trace, out); },
      [&](const TextOut& out) { RenderCoverageText(coverage, *trace, out); });
  return written ? WarnIncomplete(*trace, arguments.file) : PrintError(written.error());
}

}  // namespace

void AddCoverageCommand(CLI::App& app, int& exit_code) {
  const auto [sub, arguments] = AddCommand<CoverageArguments>(
      app, exit_code, RunCoverage, "coverage",
      "Report the kernel launches and copies that run in graphs, and those that don't",
      {"graphkit coverage trace.json       # recorded with --scope all"});
  AddTrace(*sub, arguments->file);
  AddView(*sub, arguments->view);
  AddTop(*sub, arguments->view.top);
}

}  // namespace graphkit
