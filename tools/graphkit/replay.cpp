// `graphkit replay`: what an allocator would do with a recorded run.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "libgraphkit/render/replay.h"
#include "tools/graphkit/commands.h"
#include "tools/graphkit/exit_codes.h"
#include "tools/graphkit/input.h"
#include "tools/graphkit/options.h"
#include "tools/graphkit/output.h"
#include "tools/graphkit/progress.h"
#include "tools/graphkit/replay_recorded.h"
#include "tools/graphkit/talk.h"

namespace graphkit {

namespace {

constexpr const char* kAll = "all";

struct ReplayArguments {
  std::string file;
  std::vector<std::string> allocators = {kAll};
  std::string output = "-";
  Format format = Format::kText;
  bool verify = false;
  bool against_recorded = false;
};

std::vector<std::string> PolicyWords() {
  std::vector<std::string> words;
  for (const PolicyInfo& policy : Policies()) words.emplace_back(policy.name);
  words.emplace_back(kAll);
  return words;
}

std::vector<PolicyKind> PoliciesOf(const ReplayArguments& arguments) {
  std::vector<PolicyKind> kinds;
  for (const std::string& word : arguments.allocators) {
    for (const PolicyInfo& policy : Policies()) {
      if (word != kAll && word != policy.name) continue;
      if (std::ranges::find(kinds, policy.kind) == kinds.end()) kinds.push_back(policy.kind);
    }
  }
  return kinds;
}

std::vector<PolicyReplay> Replay(const Trace& trace, const ReplayArguments& arguments) {
  const Progress progress("replaying " + arguments.file);
  const Facts facts = FindFacts(trace);
  std::vector<PolicyReplay> replays;
  for (const PolicyKind kind : PoliciesOf(arguments)) {
    replays.push_back(ReplayTrace(facts, kind, {.verify = arguments.verify, .config = {}}));
  }
  return replays;
}

int RunTrace(const ReplayArguments& arguments) {
  const Result<Trace> trace = ReadInput(arguments.file);
  if (!trace) return PrintError(trace.error());
  const std::vector<PolicyReplay> replays = Replay(*trace, arguments);
  const Result<void> written = WriteOutput(arguments.output, [&](std::ostream& out) {
    if (arguments.format == Format::kJson) {
      RenderReplayJson(replays, arguments.verify, *trace, out);
    } else {
      RenderReplayText(replays, arguments.verify, *trace, out);
    }
  });
  if (!written) return PrintError(written.error());
  const int incomplete = WarnIncomplete(*trace, arguments.file);
  if (incomplete != kExitOk || !arguments.verify) return incomplete;
  return std::ranges::all_of(replays, &PolicyReplay::verified) ? kExitOk : kExitFailed;
}

int RunReplay(const ReplayArguments& arguments) {
  if (!arguments.against_recorded) return RunTrace(arguments);
  if (arguments.allocators != std::vector<std::string>{"pytorch"}) {
    return PrintError(Error{.message = "replay: --against-recorded is for one allocator",
                            .hint = "add --allocator pytorch"});
  }
  return ReplayAgainstRecorded(arguments.file, arguments.format, arguments.output);
}

}  // namespace

void AddReplayCommand(CLI::App& app, int& exit_code) {
  CLI::App* sub =
      app.add_subcommand("replay", "Say what an allocator would do with a recorded run");
  const auto arguments = std::make_shared<ReplayArguments>();
  sub->add_option("trace", arguments->file,
                  "a trace, or - for stdin; with --against-recorded a snapshot.pickle")
      ->required();
  sub->add_option("--allocator", arguments->allocators, "by which rules (default: all)")
      ->option_text(JoinWords(PolicyWords()) + ",…")
      ->delimiter(',')
      ->check([](const std::string& word) { return CheckWord(word, PolicyWords()); });
  CLI::Option* verify = sub->add_flag(
      "--verify", arguments->verify,
      "check that blocks that share memory are ordered; exit code 1 when some aren't");
  sub->add_flag("--against-recorded", arguments->against_recorded,
                "compare each address and segment with the recorded one; exit code 1 on a miss")
      ->excludes(verify);
  AddFormat(*sub, arguments->format);
  AddOutput(*sub, arguments->output, "where to (default: stdout)");
  SetExamples(*sub, {"graphkit replay trace.json --verify",
                     "graphkit replay trace.json --allocator defer,pytorch,reuse --format json",
                     "graphkit replay snapshot.pickle --allocator pytorch --against-recorded"});
  sub->callback([&exit_code, arguments] { exit_code = RunReplay(*arguments); });
}

}  // namespace graphkit
