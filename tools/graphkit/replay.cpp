// `graphkit replay`: what an allocator would do.
#include <memory>
#include <string>

#include "tools/graphkit/commands.h"
#include "tools/graphkit/options.h"
#include "tools/graphkit/output.h"
#include "tools/graphkit/replay_recorded.h"

namespace graphkit {

namespace {

struct ReplayArguments {
  std::string file;
  std::string allocator = "pytorch";
  std::string output = "-";
  Format format = Format::kText;
  bool against_recorded = false;
};

}  // namespace

void AddReplayCommand(CLI::App& app, int& exit_code) {
  CLI::App* sub =
      app.add_subcommand("replay", "Say what an allocator would do with a recorded run");
  const auto arguments = std::make_shared<ReplayArguments>();
  sub->add_option("snapshot", arguments->file,
                  "what torch.cuda.memory._dump_snapshot wrote: snapshot.pickle")
      ->required();
  AddChoice<std::string>(*sub, "--allocator", arguments->allocator, {{"pytorch", "pytorch"}},
                         "whose rules (default: pytorch)");
  sub->add_flag("--against-recorded", arguments->against_recorded,
                "compare each address and segment with the recorded one; exit code 1 on a miss")
      ->required();
  AddFormat(*sub, arguments->format);
  AddOutput(*sub, arguments->output, "where to (default: stdout)");
  SetExamples(*sub, {"graphkit replay snapshot.pickle --allocator pytorch --against-recorded"});
  sub->callback([&exit_code, arguments] {
    exit_code = ReplayAgainstRecorded(arguments->file, arguments->format, arguments->output);
  });
}

}  // namespace graphkit
