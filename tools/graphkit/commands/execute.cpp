// `graphkit execute`: a trace's graphs, run with real memory.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "libgraphkit/render/replay/replay.h"
#include "libgraphkit/replay/replay_trace.h"
#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/cli/progress.h"
#include "tools/graphkit/cli/talk.h"
#include "tools/graphkit/commands.h"
#include "tools/graphkit/commands/allocators.h"
#include "tools/graphkit/files/input.h"
#include "tools/graphkit/plugins.h"

namespace graphkit {

namespace {

constexpr const char* kHost = "host";
constexpr const char* kSoft = "soft";
constexpr const char* kCuda = "cuda";

struct ExecuteArguments {
  std::string file;
  std::vector<std::string> allocators;
  std::string device = kHost;
  ExecutionOptions execution;
  View view;
};

// Nothing: on the host.
Result<std::optional<DeviceExecutor>> OpenDevice(const std::string& name) {
  if (name == kHost) return std::optional<DeviceExecutor>();
  const bool soft = name == kSoft;
  const std::filesystem::path folder = PluginFolder();
  Result<DeviceExecutor> device =
      DeviceExecutor::Open({.plugin = folder / kExecutorPlugin,
                            .driver = soft ? (folder / kSoftDriver).string() : "libcuda.so.1",
                            .host_nodes = soft,
                            .name = name});
  if (device) return std::optional<DeviceExecutor>(std::move(*device));
  Error error = device.error();
  error.message = "execute: --device " + name + ": " + error.message;
  return error;
}

// An execution that checked nothing proves nothing.
Result<void> CheckExecution(const std::vector<PolicyReplay>& replays, const std::string& file) {
  for (const PolicyReplay& replay : replays) {
    uint64_t checks = 0;
    for (const GraphExecution& execution : replay.executions) {
      checks += execution.checks;
      if (execution.failed.empty()) continue;
      return Error{.message = "graph " + std::to_string(execution.graph.value) +
                              " can't be executed: " + execution.failed,
                   .hint = "use --device host",
                   .file = file};
    }
    if (checks != 0) continue;
    return Error{.message = "the execution made no check: no node is known to touch a placed block",
                 .hint = "trace a program whose kernels have known parameters",
                 .file = file};
  }
  return {};
}

Result<std::vector<PolicyReplay>> Execute(const Trace& trace, const ExecuteArguments& arguments,
                                          const DeviceExecutor* device) {
  Progress progress("analyzing " + arguments.file);
  const Facts facts(trace);
  ReplayOptions options{.verify = true, .config = {}, .done = progress.done()};
  options.execute = arguments.execution;
  options.device = device;
  const size_t policies = PoliciesIn(arguments.allocators).size();
  progress.Next("executing " + arguments.file, trace.graphs.size() * policies);
  Result<std::vector<PolicyReplay>> replays =
      ReplayAllocators(facts, arguments.allocators, options);
  if (!replays) return replays;
  const Result<void> checked = CheckExecution(*replays, arguments.file);
  return checked ? replays : Result<std::vector<PolicyReplay>>(checked.error());
}

int RunExecute(const ExecuteArguments& arguments) {
  const Result<std::optional<DeviceExecutor>> device = OpenDevice(arguments.device);
  if (!device) return PrintError(device.error());
  const Result<Trace> trace = ReadWithMemory(arguments.file);
  if (!trace) return PrintError(trace.error());
  const Result<std::vector<PolicyReplay>> replays =
      Execute(*trace, arguments, *device ? &**device : nullptr);
  if (!replays) return PrintError(replays.error());
  const ReplayView view{.verify = true, .collateral = FindCollateral(*trace)};
  const Result<void> written = WriteView(
      arguments.view, [&](std::ostream& out) { RenderReplayJson(*replays, view, *trace, out); },
      [&](const TextOut& out) { RenderReplayText(*replays, view, *trace, out); });
  if (!written) return PrintError(written.error());
  const int incomplete = WarnIncomplete(*trace, arguments.file);
  if (incomplete != kExitOk) return incomplete;
  const bool clean = std::ranges::all_of(*replays, [](const PolicyReplay& replay) {
    return replay.verified && replay.executed_clean();
  });
  return clean ? kExitOk : kExitFailed;
}

}  // namespace

void AddExecuteCommand(CLI::App& app, int& exit_code) {
  const auto [sub, arguments] = AddCommand<ExecuteArguments>(
      app, exit_code, RunExecute, "execute",
      "Verify placements, and run the graphs with real memory in unlikely orders",
      {"graphkit execute trace.json --allocator plan.json",
       "graphkit execute trace.json --allocator reuse --device cuda --orders 1000"});
  AddTrace(*sub, arguments->file);
  AddAllocators(*sub, arguments->allocators);
  AddChoice<std::string>(
      *sub, "--device", arguments->device, {{kHost, kHost}, {kSoft, kSoft}, {kCuda, kCuda}},
      "Run on the host (the default), the software device or the GPU; exit code 1 when a node "
      "finds its bytes destroyed, or blocks that share memory aren't ordered");
  sub->add_option("--orders", arguments->execution.orders, "Number of orders (default: 100)")
      ->option_text("N")
      ->check(CLI::Range(1, 1'000'000));
  sub->add_option("--seed", arguments->execution.seed, "Seed of the first order (default: 1)")
      ->option_text("N");
  AddView(*sub, arguments->view);
}

}  // namespace graphkit
