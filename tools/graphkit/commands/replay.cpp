// `graphkit replay`: what an allocator would do with a recorded run.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "libgraphkit/io/files/plan_files.h"
#include "libgraphkit/io/import/torch/torch_snapshot.h"
#include "libgraphkit/render/replay/replay.h"
#include "libgraphkit/replay/recorded_plan.h"
#include "libgraphkit/replay/replay_trace.h"
#include "libgraphkit/replay/user_allocator.h"
#include "libgraphkit/replay/validate.h"
#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/cli/progress.h"
#include "tools/graphkit/cli/talk.h"
#include "tools/graphkit/commands.h"
#include "tools/graphkit/commands/replay_recorded.h"
#include "tools/graphkit/commands/replay_what_if.h"
#include "tools/graphkit/files/input.h"
#include "tools/graphkit/files/output.h"
#include "tools/graphkit/plugins.h"

namespace graphkit {

namespace {

constexpr const char* kAll = "all";

struct ReplayArguments {
  std::string file;
  std::vector<std::string> allocators;  // none: all, or pytorch against what was recorded
  std::string output = "-";
  Format format = Format::kText;
  bool verify = false;
  bool time = false;
  bool against_recorded = false;
  std::string plan;
  std::string timeline;
  std::optional<Bytes> capacity;
  std::string execute;
  ExecutionOptions execution;
  std::vector<std::string> what_if;
};

constexpr const char* kHost = "host";
constexpr const char* kSoft = "soft";
constexpr const char* kCuda = "cuda";

std::vector<std::string> PolicyWords() {
  std::vector<std::string> words;
  for (const PolicyInfo& policy : Policies()) words.emplace_back(policy.name);
  words.emplace_back(kAll);
  for (const ModelInfo& model : Models()) words.emplace_back(model.name);
  words.emplace_back(kRecordedName);
  return words;
}

// A user's allocator, by its path.
bool IsLibrary(const std::string& word) { return word.find('/') != std::string::npos; }

std::string CheckAllocator(const std::string& word) {
  return IsLibrary(word) ? std::string() : CheckWord(word, PolicyWords());
}

std::vector<PolicyKind> PoliciesOf(const ReplayArguments& arguments) {
  std::vector<PolicyKind> kinds;
  const std::vector<std::string> all = {kAll};
  for (const std::string& word : arguments.allocators.empty() ? all : arguments.allocators) {
    for (const PolicyInfo& policy : Policies()) {
      if (word != kAll && word != policy.name) continue;
      if (std::ranges::find(kinds, policy.kind) == kinds.end()) kinds.push_back(policy.kind);
    }
  }
  return kinds;
}

Result<std::vector<PolicyReplay>> Replay(const Trace& trace, const ReplayArguments& arguments,
                                         const DeviceExecutor* device) {
  Progress progress("analyzing " + arguments.file);
  const Facts facts = FindFacts(trace, {.scope = FactScope::kReplay});
  ReplayOptions options{.verify = arguments.verify,
                        .config = {},
                        .capacity = arguments.capacity,
                        .timeline = !arguments.timeline.empty(),
                        .done = progress.done()};
  if (!arguments.execute.empty()) options.execute = arguments.execution;
  options.device = device;
  if (!arguments.plan.empty()) {
    const Result<PlannedMemory> plan = ReadPlan(arguments.plan);
    if (!plan) return plan.error();
    if (const Result<void> fits = PlanFits(facts, *plan); !fits) {
      Error error = fits.error();
      error.file = arguments.plan;
      return error;
    }
    return std::vector{ReplayPlan(facts, *plan, options)};
  }
  const std::vector<PolicyKind> policies = PoliciesOf(arguments);
  progress.Next("replaying " + arguments.file, trace.graphs.size() * policies.size());
  std::vector<PolicyReplay> replays = ReplayTrace(facts, policies, options);
  for (const std::string& word : arguments.allocators) {
    if (word == kRecordedName) replays.push_back(ReplayRecorded(facts, options));
    if (const auto model = FindModel(word)) replays.push_back(ReplayModel(facts, *model, options));
    if (!IsLibrary(word)) continue;
    const Result<UserAllocator> allocator = UserAllocator::Load(word);
    if (!allocator) return allocator.error();
    const Result<PlannedMemory> plan = PlaceByAllocator(facts, allocator->table());
    if (!plan) return plan.error();
    replays.push_back(ReplayPlan(facts, *plan, options, allocator->table().name));
  }
  return replays;
}

Result<void> Write(const std::vector<PolicyReplay>& replays, const Trace& trace,
                   const ReplayArguments& arguments) {
  if (!arguments.timeline.empty()) {
    const Result<void> written = WriteOutput(
        arguments.timeline, [&](std::ostream& out) { RenderTimelineJson(replays, trace, out); });
    if (!written) return written;
  }
  const ReplayView view{.verify = arguments.verify,
                        .time = arguments.time,
                        .capacity = arguments.capacity,
                        .collateral = FindCollateral(trace)};
  return WriteOutput(arguments.output, [&](std::ostream& out) {
    if (arguments.format == Format::kJson) {
      RenderReplayJson(replays, view, trace, out);
    } else {
      RenderReplayText(replays, view, trace, StyleFor(arguments.output), out);
    }
  });
}

// A requested property must hold for every policy.
int Verdict(const std::vector<PolicyReplay>& replays, const ReplayArguments& arguments) {
  const auto safe = [&](const PolicyReplay& replay) {
    return !arguments.verify || replay.verified;
  };
  const auto fits = [](const PolicyReplay& replay) { return !RanOut(replay); };
  const auto clean = [](const PolicyReplay& replay) {
    return replay.executed_clean() && replay.lent_clean();
  };
  const bool passed = std::ranges::all_of(replays, safe) && std::ranges::all_of(replays, fits) &&
                      std::ranges::all_of(replays, clean);
  return passed ? kExitOk : kExitFailed;
}

// An execution that looked at nothing proves nothing.
Result<void> CheckExecution(const std::vector<PolicyReplay>& replays,
                            const ReplayArguments& arguments) {
  if (arguments.execute.empty()) return {};
  for (const PolicyReplay& replay : replays) {
    if (replay.borrowed && !replay.borrowed->failed.empty()) {
      return Error{.message = "what is lent can't be executed: " + replay.borrowed->failed,
                   .hint = "use --execute host",
                   .file = arguments.file};
    }
    uint64_t checks = 0;
    for (const GraphExecution& execution : replay.executions) {
      checks += execution.checks;
      if (execution.failed.empty()) continue;
      return Error{.message = "graph " + std::to_string(execution.graph.value) +
                              " can't be executed: " + execution.failed,
                   .hint = "use --execute host",
                   .file = arguments.file};
    }
    if (checks != 0) continue;
    return Error{.message = "the execution made no check: no node is known to touch a placed block",
                 .hint = "trace a program whose kernels have known parameters",
                 .file = arguments.file};
  }
  return {};
}

// Nothing: on the host.
Result<std::optional<DeviceExecutor>> OpenDevice(const ReplayArguments& arguments) {
  std::optional<DeviceExecutor> none;
  if (arguments.execute.empty() || arguments.execute == kHost) return none;
  const bool soft = arguments.execute == kSoft;
  const std::filesystem::path folder = PluginFolder();
  Result<DeviceExecutor> device =
      DeviceExecutor::Open({.plugin = folder / kExecutorPlugin,
                            .driver = soft ? (folder / kSoftDriver).string() : "libcuda.so.1",
                            .host_nodes = soft,
                            .name = arguments.execute});
  if (device) return std::optional<DeviceExecutor>(std::move(*device));
  Error error = device.error();
  error.message = "replay: --execute " + arguments.execute + ": " + error.message;
  return error;
}

int RunTrace(const ReplayArguments& arguments) {
  const Result<std::optional<DeviceExecutor>> device = OpenDevice(arguments);
  if (!device) return PrintError(device.error());
  const Result<Trace> trace = ReadInput(arguments.file);
  if (!trace) return PrintError(trace.error());
  if (const Result<void> holds = HoldsMemory(*trace, arguments.file); !holds) {
    Error error = holds.error();
    if (trace->graphs.empty() && !trace->segments.empty()) {
      error.hint = "--what-if and --against-recorded replay a snapshot";
    }
    return PrintError(error);
  }
  const Result<std::vector<PolicyReplay>> replays =
      Replay(*trace, arguments, *device ? &**device : nullptr);
  if (!replays) return PrintError(replays.error());
  if (const Result<void> looked = CheckExecution(*replays, arguments); !looked) {
    return PrintError(looked.error());
  }
  const Result<void> written = Write(*replays, *trace, arguments);
  if (!written) return PrintError(written.error());
  const int incomplete = WarnIncomplete(*trace, arguments.file);
  return incomplete != kExitOk ? incomplete : Verdict(*replays, arguments);
}

int RunReplay(const ReplayArguments& arguments) {
  if (!arguments.what_if.empty()) {
    return ReplayWhatIfs({.file = arguments.file,
                          .settings = arguments.what_if,
                          .capacity = arguments.capacity,
                          .format = arguments.format,
                          .output = arguments.output});
  }
  if (!arguments.against_recorded) return RunTrace(arguments);
  return ReplayAgainstRecorded({.file = arguments.file,
                                .allocators = arguments.allocators,
                                .format = arguments.format,
                                .output = arguments.output});
}

void AddExecution(CLI::App& sub, ReplayArguments& arguments) {
  AddChoice<std::string>(sub, "--execute", arguments.execute,
                         {{kHost, kHost}, {kSoft, kSoft}, {kCuda, kCuda}},
                         "run the graphs with real memory, in unlikely orders; exit code 1 when a "
                         "node finds its bytes destroyed")
      ->excludes("--against-recorded");
  sub.add_option("--orders", arguments.execution.orders, "how many orders (default: 100)")
      ->option_text("N")
      ->needs("--execute")
      ->check(CLI::Range(1, 1'000'000));
  sub.add_option("--seed", arguments.execution.seed, "of the first order (default: 1)")
      ->option_text("N")
      ->needs("--execute");
}

}  // namespace

void AddReplayCommand(CLI::App& app, int& exit_code) {
  const auto [sub, arguments] = AddCommand<ReplayArguments>(
      app, exit_code, RunReplay, "replay", "Say what an allocator would do with a recorded run",
      {"graphkit replay trace.json --verify",
       "graphkit replay trace.json --allocator defer,pytorch,reuse --format json",
       "graphkit replay trace.json --plan plan.json --verify --execute host",
       "graphkit replay snapshot.pickle --against-recorded",
       "graphkit replay snapshot.pickle --what-if expandable_segments:True",
       "graphkit replay trace.json --allocator defer,pytorch --against-recorded"});
  sub->add_option("trace", arguments->file,
                  "a trace, with --against-recorded or --what-if a snapshot.pickle; - for stdin")
      ->required();
  sub->add_option("--allocator", arguments->allocators, "by which rules (default: all)")
      ->option_text(JoinWords(PolicyWords()) + "|./lib.so,…")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CheckAllocator);
  CLI::Option* verify = sub->add_flag(
      "--verify", arguments->verify,
      "check that blocks that share memory are ordered; exit code 1 when some aren't");
  sub->add_flag("--against-recorded", arguments->against_recorded,
                "compare each address and segment with the recorded one; exit code 1 on a miss")
      ->excludes(verify);
  sub->add_option("--what-if", arguments->what_if,
                  "of a snapshot: what PyTorch's allocator would reserve under this setting, "
                  "spelled as in PYTORCH_ALLOC_CONF; several times: one line each")
      ->option_text("SETTING")
      ->allow_extra_args(false)
      ->excludes("--against-recorded")
      ->excludes("--allocator")
      ->excludes(verify);
  sub->add_option("--plan", arguments->plan, "replay this plan, made by graphkit plan, instead")
      ->option_text("FILE")
      ->excludes("--allocator")
      ->excludes("--against-recorded");
  AddExecution(*sub, *arguments);
  AddSize(*sub, "--capacity", arguments->capacity,
          "say where a policy would have run out of memory: 80GiB; exit code 1 when one does");
  sub->add_option("--timeline", arguments->timeline,
                  "also write there, as JSON, the bytes after each malloc and free")
      ->option_text("FILE");
  sub->add_flag("--time", arguments->time,
                "also show what a malloc or free took, on average (always in the JSON)");
  AddView(*sub, arguments->format, arguments->output);
}

}  // namespace graphkit
