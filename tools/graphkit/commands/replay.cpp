// `graphkit replay`: the memory that allocators need for a trace's graphs.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "libgraphkit/alloc/plan/plan_trace.h"
#include "libgraphkit/replay/replay_trace.h"
#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/commands.h"
#include "tools/graphkit/files/input.h"
#include "tools/graphkit/files/output.h"
#include "tools/graphkit/plan/replay_certificate.h"
#include "tools/graphkit/plugins.h"
#include "tools/graphkit/replay/allocators.h"
#include "tools/graphkit/replay/device_executor.h"
#include "tools/graphkit/replay/forms.h"
#include "tools/graphkit/replay/render.h"
#include "tools/graphkit/terminal/progress.h"
#include "tools/graphkit/terminal/talk.h"

namespace graphkit {

namespace {

constexpr const char* kSoft = "soft";
constexpr const char* kCuda = "cuda";

// Nothing: placements are only looked at.
Result<std::optional<Executor>> OpenNamed(const std::string& name) {
  if (name.empty()) return std::optional<Executor>();
  const bool soft = name == kSoft;
  const std::filesystem::path folder = PluginFolder();
  Result<Executor> device =
      OpenDevice({.plugin = folder / kExecutorPlugin,
                  .driver = soft ? (folder / kSoftDriver).string() : "libcuda.so.1",
                  .host_nodes = soft,
                  .name = name});
  if (device) return std::optional<Executor>(std::move(*device));
  Error error = device.error();
  error.message = "replay: --execute " + name + ": " + error.message;
  return error;
}

// An execution that checked nothing proves nothing.
Result<void> CheckExecution(const PolicyReplay& replay, const std::string& file) {
  uint64_t checks = 0;
  for (const GraphExecution& execution : replay.executions) {
    checks += execution.checks;
    if (execution.failed.empty()) continue;
    return Error{.message = "graph " + std::to_string(execution.graph.value) +
                            " can't be executed: " + execution.failed,
                 .file = file};
  }
  if (checks != 0) return {};
  return Error{.message = "the execution made no check: no node is known to touch a placed block",
               .hint = "trace a program whose kernels have known parameters",
               .file = file};
}

bool IsUserLibrary(const std::string& word) { return word.find(".so") != std::string::npos; }

// What a certificate lacks; empty: nothing.
std::string LackingForCertificate(const ReplayArguments& arguments) {
  if (arguments.certificate.empty()) return "";
  if (arguments.file == "-") return "a trace in a file";
  const bool one = arguments.allocators.size() == 1 && arguments.allocators.front() != "all";
  if (!one) return "one --allocator";
  const std::string& word = arguments.allocators.front();
  const bool plan = word == "-" || word.find_first_of("./") != std::string::npos;
  return plan && !IsUserLibrary(word) ? "an allocator; graphkit plan writes those of plans" : "";
}

// Offline placements are of each graph alone: they don't share pools.
Result<void> WriteReplayCertificate(const Facts& facts, const PolicyReplay& replay,
                                    const ReplayArguments& arguments) {
  const bool library = IsUserLibrary(arguments.allocators.front());
  if (replay.given.empty() && InfoOf(replay.policy).offline && replay.sharers > 0) {
    return Error{.message = "optimal places graphs that share a pool each alone",
                 .hint = "graphkit plan --certificate places them together",
                 .file = arguments.file};
  }
  return WriteCertificate(CertifyReplay(facts, replay, !library), arguments.file,
                          arguments.certificate);
}

Result<std::vector<PolicyReplay>> Replay(const Ran& trace, const ReplayArguments& arguments,
                                         const std::optional<Executor>& device) {
  Progress progress("analyzing " + arguments.file);
  const Facts facts(trace);
  const ReplayOptions options{.verify = arguments.verify,
                              .config = {},
                              .capacity = arguments.capacity,
                              .timeline = arguments.format == ReplayFormat::kTimeline,
                              .done = progress.done()};
  progress.Next("replaying " + arguments.file,
                trace.graphs.size() * PoliciesIn(arguments.allocators).size());
  Result<std::vector<PolicyReplay>> replays =
      ReplayAllocators(facts, arguments.allocators, options);
  if (!replays) return replays;
  if (!arguments.certificate.empty()) {
    const auto written = WriteReplayCertificate(facts, replays->front(), arguments);
    if (!written) return written.error();
  }
  const bool alone = std::ranges::any_of(arguments.allocators, IsUserLibrary);
  if (alone && !SequenceOfSharers(facts).empty()) {
    PrintNote(
        "allocator libraries are called for each graph alone: their figures are sums, also of "
        "graphs that share pools");
  }
  if (!device) return replays;
  progress.Next("executing " + arguments.file, replays->size());
  for (PolicyReplay& replay : *replays) {
    replay.executions = ExecuteReplay(facts, replay, *device, arguments.execution);
    if (const auto checked = CheckExecution(replay, arguments.file); !checked) {
      return checked.error();
    }
    ++*progress.done();
  }
  return replays;
}

Result<void> Write(const std::vector<PolicyReplay>& replays, const Ran& trace,
                   const ReplayArguments& arguments) {
  const ReplayView view{.verify = arguments.verify,
                        .capacity = arguments.capacity,
                        .collateral = FindCollateral(trace)};
  return WriteOutput(arguments.output, [&](std::ostream& out) {
    switch (arguments.format) {
      case ReplayFormat::kText:
        return RenderReplayText(replays, view, trace, {StyleFor(arguments.output), out});
      case ReplayFormat::kJson:
        return RenderReplayJson(replays, view, trace, out);
      case ReplayFormat::kTimeline:
        return RenderTimelineJson(replays, trace, out);
    }
  });
}

int ReplayGraphs(ReplayArguments& arguments) {
  const Result<std::optional<Executor>> device = OpenNamed(arguments.device);
  if (!device) return PrintError(device.error());
  if (const std::string missing = LackingForCertificate(arguments); !missing.empty()) {
    return PrintError(Error{.message = "replay: --certificate needs " + missing});
  }
  arguments.verify = arguments.verify || *device || !arguments.certificate.empty();
  const Result<Ran> trace = ReadWithMemory(arguments.file);
  if (!trace) return PrintError(trace.error());
  const Result<std::vector<PolicyReplay>> replays = Replay(*trace, arguments, *device);
  if (!replays) return PrintError(replays.error());
  const Result<void> written = Write(*replays, *trace, arguments);
  if (!written) return PrintError(written.error());
  const int incomplete = WarnIncomplete(*trace, arguments.file);
  if (incomplete != kExitOk) return incomplete;
  const bool passed = std::ranges::all_of(*replays, [&](const PolicyReplay& replay) {
    return (!arguments.verify || replay.verified) && replay.executed_clean() && !RanOut(replay);
  });
  return passed ? kExitOk : kExitFailed;
}

int RunReplay(ReplayArguments& arguments) {
  if (!arguments.against_recorded && arguments.settings.empty()) return ReplayGraphs(arguments);
  if (arguments.format == ReplayFormat::kTimeline) {
    return PrintError(Error{.message = "replay: --format timeline is for allocators on a trace",
                            .hint = "use --format json"});
  }
  return arguments.against_recorded ? ReplayAgainstRecorded(arguments)
                                    : ReplayUnderSettings(arguments);
}

// What else is asked of a placement, or in its place.
void AddForms(CLI::App& sub, ReplayArguments& arguments) {
  CLI::Option* const execute = AddChoice<std::string>(
      sub, "--execute", arguments.device, {{kSoft, kSoft}, {kCuda, kCuda}},
      "Also run the graphs with real memory in unlikely orders, on the software device or the GPU; "
      "exit code 1 when a node finds its bytes destroyed; implies --verify");
  sub.add_option("--orders", arguments.execution.orders,
                 "Number of orders to execute (default: 100)")
      ->option_text("N")
      ->needs(execute)
      ->check(CLI::Range(1, 1'000'000));
  sub.add_option("--seed", arguments.execution.seed, "Seed of the first order (default: 1)")
      ->option_text("N")
      ->needs(execute);
  sub.add_flag("--against-recorded", arguments.against_recorded,
               "Compare the addresses of PyTorch's allocator model with a snapshot's, or of "
               "policies with a trace's (default: defer,pytorch-v1,pytorch); exit code 1 when an "
               "address of the snapshot differs, or no policy places all blocks as recorded")
      ->excludes(execute, sub.get_option("--verify"), sub.get_option("--capacity"),
                 sub.get_option("--certificate"));
  sub.add_option("--setting", arguments.settings,
                 "Predict the reserved memory of a snapshot under other settings, as in "
                 "PYTORCH_ALLOC_CONF; one line of the result each")
      ->option_text("NAME:VALUE")
      ->allow_extra_args(false)
      ->excludes(execute, sub.get_option("--verify"), sub.get_option("--allocator"),
                 sub.get_option("--against-recorded"), sub.get_option("--certificate"));
}

}  // namespace

void AddReplayCommand(CLI::App& app, int& exit_code) {
  const auto [sub, arguments] = AddCommand<ReplayArguments>(
      app, exit_code, RunReplay, "replay", "Compare the memory that allocators need for a trace",
      {"graphkit replay trace.json --verify",
       "graphkit replay trace.json --allocator defer,pytorch,reuse --format json",
       "graphkit replay trace.json --allocator plan.json --execute soft",
       "graphkit replay trace.json --capacity 80GiB",
       "graphkit replay snapshot.pickle --against-recorded",
       "graphkit replay snapshot.pickle --setting expandable_segments:True"});
  sub->add_option(
         "file", arguments->file,
         "Trace, or a memory snapshot with --against-recorded or --setting, or - for stdin")
      ->required();
  AddAllocators(*sub, arguments->allocators);
  sub->add_flag("--verify", arguments->verify,
                "Fail when blocks that share memory aren't ordered (exit code 1)");
  AddSize(*sub, "--capacity", arguments->capacity,
          "Fail when an allocator runs out of this much memory (exit code 1), and show where");
  sub->add_option("--certificate", arguments->certificate,
                  "Also write a proof of the placement to FILE, for check_certificate.py; implies "
                  "--verify")
      ->option_text("FILE");
  AddForms(*sub, *arguments);
  const CLI::Option* format = AddChoice<ReplayFormat>(
      *sub, "--format", arguments->format,
      {{"text", ReplayFormat::kText},
       {"json", ReplayFormat::kJson},
       {"timeline", ReplayFormat::kTimeline}},
      "Print text (the default), JSON with a stable schema, or JSON with the bytes after each "
      "malloc and free");
  AddOutput(*sub, arguments->output);
  FollowName<ReplayFormat>(*sub, format, arguments->output, arguments->format,
                           {{".json", ReplayFormat::kJson}});
}

}  // namespace graphkit
