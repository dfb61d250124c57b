// `graphkit replay`: the memory that allocators need for a trace's graphs.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "libgraphkit/alloc/plan/plan_trace.h"
#include "libgraphkit/render/replay/replay.h"
#include "libgraphkit/replay/replay_trace.h"
#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/cli/progress.h"
#include "tools/graphkit/cli/talk.h"
#include "tools/graphkit/commands.h"
#include "tools/graphkit/commands/allocators.h"
#include "tools/graphkit/files/input.h"
#include "tools/graphkit/files/output.h"

namespace graphkit {

namespace {

enum class ReplayFormat { kText, kJson, kTimeline };

struct ReplayArguments {
  std::string file;
  std::vector<std::string> allocators;
  bool verify = false;
  std::optional<Bytes> capacity;
  ReplayFormat format = ReplayFormat::kText;
  std::string output = "-";
};

Result<std::vector<PolicyReplay>> Replay(const Trace& trace, const ReplayArguments& arguments) {
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
  const bool alone = std::ranges::any_of(arguments.allocators, [](const std::string& word) {
    return word.find(".so") != std::string::npos;
  });
  if (replays && alone && !SequenceOfSharers(facts).empty()) {
    PrintNote(
        "allocator libraries are called for each graph alone: their figures are sums, also of "
        "graphs that share pools");
  }
  return replays;
}

Result<void> Write(const std::vector<PolicyReplay>& replays, const Trace& trace,
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

int RunReplay(const ReplayArguments& arguments) {
  const Result<Trace> trace = ReadWithMemory(arguments.file);
  if (!trace) return PrintError(trace.error());
  const Result<std::vector<PolicyReplay>> replays = Replay(*trace, arguments);
  if (!replays) return PrintError(replays.error());
  const Result<void> written = Write(*replays, *trace, arguments);
  if (!written) return PrintError(written.error());
  const int incomplete = WarnIncomplete(*trace, arguments.file);
  if (incomplete != kExitOk) return incomplete;
  const bool passed = std::ranges::all_of(*replays, [&](const PolicyReplay& replay) {
    return (!arguments.verify || replay.verified) && !RanOut(replay);
  });
  return passed ? kExitOk : kExitFailed;
}

}  // namespace

void AddReplayCommand(CLI::App& app, int& exit_code) {
  const auto [sub, arguments] = AddCommand<ReplayArguments>(
      app, exit_code, RunReplay, "replay", "Compare the memory that allocators need for a trace",
      {"graphkit replay trace.json --verify",
       "graphkit replay trace.json --allocator defer,pytorch,reuse --format json",
       "graphkit replay trace.json --allocator plan.json --verify",
       "graphkit replay trace.json --capacity 80GiB"});
  AddTrace(*sub, arguments->file);
  AddAllocators(*sub, arguments->allocators);
  sub->add_flag("--verify", arguments->verify,
                "Fail when blocks that share memory aren't ordered (exit code 1)");
  AddSize(*sub, "--capacity", arguments->capacity,
          "Fail when an allocator runs out of this much memory (exit code 1), and show where");
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
