// `graphkit launch-order`: launches of graphs that share a pool, against the order of the captures.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "libgraphkit/analysis/analyze.h"
#include "libgraphkit/render/pipeline/pipeline.h"
#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/cli/progress.h"
#include "tools/graphkit/cli/talk.h"
#include "tools/graphkit/commands.h"
#include "tools/graphkit/files/input.h"

namespace graphkit {

namespace {

struct LaunchOrderArguments {
  std::string file;
  View view;
};

// Hazards of graphs that leave memory to each other.
const std::vector<std::string> kLaunchChecks = {"replay-order", "send-buffer-reuse"};

Result<PoolReplayView> Follow(const Trace& trace, const std::string& path) {
  const Progress progress("following " + path);
  Result<Report> report = Analyze(trace, {.checks = kLaunchChecks});
  if (!report) return report.error();
  return PoolReplayView{FindPoolReplays(trace), std::move(report->findings)};
}

int RunLaunchOrder(const LaunchOrderArguments& arguments) {
  const Result<Trace> trace = ReadInput(arguments.file);
  if (!trace) return PrintError(trace.error());
  const Result<PoolReplayView> view = Follow(*trace, arguments.file);
  if (!view) return PrintError(view.error());
  const Result<void> written = WriteView(
      arguments.view, [&](std::ostream& out) { RenderReplaysJson(*view, out); },
      [&](const TextOut& out) { RenderReplaysText(*view, *trace, out); });
  if (!written) return PrintError(written.error());
  const int incomplete = WarnIncomplete(*trace, arguments.file);
  if (incomplete != kExitOk) return incomplete;
  const bool departs = std::ranges::any_of(
      view->pools, [](const PoolReplays& pool) { return pool.departure_count != 0; });
  return departs || !view->findings.empty() ? kExitFailed : kExitOk;
}

}  // namespace

void AddLaunchOrderCommand(CLI::App& app, int& exit_code) {
  const auto [sub, arguments] = AddCommand<LaunchOrderArguments>(
      app, exit_code, RunLaunchOrder, "launch-order",
      "Fail when graphs of one pool were launched in another order than captured",
      {"graphkit launch-order trace.json"});
  AddTrace(*sub, arguments->file);
  AddView(*sub, arguments->view);
}

}  // namespace graphkit
