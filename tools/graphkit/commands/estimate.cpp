// `graphkit estimate`: the memory of graphs of sizes that weren't captured.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libgraphkit/alloc/estimate/estimate.h"
#include "libgraphkit/analysis/memory/exec_memory.h"
#include "libgraphkit/analysis/order/topology.h"
#include "libgraphkit/io/files/json_file.h"
#include "libgraphkit/io/files/plan_files.h"
#include "libgraphkit/render/estimate/estimate.h"
#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/commands.h"
#include "tools/graphkit/files/input.h"
#include "tools/graphkit/files/output.h"
#include "tools/graphkit/terminal/talk.h"

namespace graphkit {

namespace {

struct EstimateArguments {
  std::string trace;
  std::string sizes;
  std::string captured;
  std::string exec_costs;
  std::string histogram;
  Bytes budget = 0;
  View view = {.top = 0};
};

std::string CheckSizeList(const std::string& text) {
  const auto sizes = ParseSizes(text);
  return sizes ? "" : sizes.error().message + "; " + sizes.error().hint;
}

// The model of execs that another trace measured.
Result<ExecModel> MeasuredModel(const std::string& path) {
  const Result<Ran> trace = ReadInput(path);
  if (!trace) return trace.error();
  ExecModel model = CalibratedExecModel(*trace, FindRoots(*trace));
  if (model.measured_execs > 0) return model;
  return Error{.message = "no executable was measured in it",
               .hint = "record it with graphkit trace --measure-execs",
               .file = path};
}

Result<EstimateOptions> OptionsOf(const EstimateArguments& arguments) {
  EstimateOptions options;
  if (!arguments.sizes.empty()) options.sizes = *ParseSizes(arguments.sizes);
  if (!arguments.captured.empty()) options.captured = *ParseSizes(arguments.captured);
  if (arguments.exec_costs.empty()) return options;
  const Result<ExecModel> model = MeasuredModel(arguments.exec_costs);
  if (!model) return model.error();
  options.exec_model = *model;
  return options;
}

Result<MemoryEstimate> Estimated(const Ran& trace, const EstimateArguments& arguments,
                                 const EstimateOptions& options) {
  if (arguments.histogram.empty()) return EstimateMemory(trace, options);
  const auto requests = ReadWith(ParseHistogram, arguments.histogram);
  if (!requests) return requests.error();
  return EstimateWithin(trace, options, *requests, arguments.budget);
}

int RunEstimate(const EstimateArguments& arguments) {
  if (arguments.sizes.empty() && arguments.histogram.empty()) {
    return PrintError(Error{.message = "estimate needs --sizes, or --budget and --histogram",
                            .hint = "for example: graphkit estimate trace.json --sizes 1-64"});
  }
  const Result<Ran> trace = ReadInput(arguments.trace);
  if (!trace) return PrintError(trace.error());
  const Result<EstimateOptions> options = OptionsOf(arguments);
  if (!options) return PrintError(options.error());
  const Result<MemoryEstimate> estimate = Estimated(*trace, arguments, *options);
  if (!estimate) {
    Error error = estimate.error();
    if (error.file.empty()) error.file = arguments.trace;
    return PrintError(error);
  }
  const Result<void> written = WriteView(
      arguments.view, [&](std::ostream& out) { RenderEstimateJson(*estimate, out); },
      [&](const TextOut& out) { RenderEstimate(*estimate, out); });
  if (!written) return PrintError(written.error());
  return WarnIncomplete(*trace, arguments.trace);
}

}  // namespace

void AddEstimateCommand(CLI::App& app, int& exit_code) {
  const auto [sub, arguments] = AddCommand<EstimateArguments>(
      app, exit_code, RunEstimate, "estimate",
      "Estimate the memory of graphs of other sizes, from captures of a few",
      {"graphkit estimate trace.json --sizes 1,2,4,8-256:8",
       "graphkit estimate trace.json --sizes 1-64 --captured 8,64 --format json",
       "graphkit estimate trace.json --sizes 1-64 --exec-costs measured.json",
       "graphkit estimate trace.json --budget 2GiB --histogram requests.csv"});
  AddTrace(*sub, arguments->trace);
  AddView(*sub, arguments->view);
  AddTop(*sub, arguments->view.top);
  sub->add_option(
         "--sizes", arguments->sizes,
         "Sizes (of batches, tokens, …) to estimate, or to choose from: numbers and ranges "
         "with a step")
      ->option_text("LIST")
      ->check(CheckSizeList);
  sub->add_option(
         "--captured", arguments->captured,
         "Sizes that the trace's graphs were captured for (default: from the names of graphs "
         "and NVTX ranges, or from the blocks' ratio)")
      ->option_text("LIST")
      ->check(CheckSizeList);
  sub->add_option("--exec-costs", arguments->exec_costs,
                  "Trace recorded with --measure-execs: memory of executables, instead of the "
                  "published figures")
      ->option_text("TRACE");
  CLI::Option* const budget =
      AddSize(*sub, "--budget", arguments->budget,
              "Choose the sizes with the least padding whose graphs take at most this memory, with "
              "one pool");
  CLI::Option* const histogram =
      sub->add_option("--histogram", arguments->histogram,
                      "Requests by their size: a CSV table with the columns size and count")
          ->option_text("FILE");
  budget->needs(histogram);
  histogram->needs(budget);
}

}  // namespace graphkit
