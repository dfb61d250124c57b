// `graphkit synth`: makes a trace of any size, without a program.
#include <optional>

#include "libgraphkit/generate/synth.h"
#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/cli/progress.h"
#include "tools/graphkit/cli/talk.h"
#include "tools/graphkit/commands.h"
#include "tools/graphkit/files/input.h"

namespace graphkit {

namespace {

struct SynthRequest {
  SynthOptions options;
  std::string output = "-";
};

int RunSynth(const SynthRequest& request) {
  const Progress progress("making a trace");
  const Result<void> written = WriteTraceFile(Synthesize(request.options), request.output);
  return written ? kExitOk : PrintError(written.error());
}

std::string CheckSizes(const std::string& text) {
  if (ParseSizeDistribution(text)) return "";
  return "'" + text + "' is no distribution of sizes; like 4MiB, uniform:1MiB-8MiB, log:512B-64MiB";
}

CLI::Option* AddProbability(CLI::App& app, const std::string& name, double& value,
                            const std::string& what) {
  return app.add_option(name, value, what)->option_text("P")->check(CLI::Range(0.0, 1.0));
}

void AddSizes(CLI::App& app, SynthOptions& options) {
  const auto set = [&options](const std::string& text) {
    options.sizes = *ParseSizeDistribution(text);
  };
  app.add_option_function<std::string>("--size-dist", set, "Sizes of the blocks (4MiB)")
      ->option_text("SIZE|uniform:A-B|log:A-B")
      ->check(CheckSizes);
}

void AddCounts(CLI::App& app, SynthOptions& options) {
  constexpr uint64_t kMostOps = 100'000'000;
  app.add_option("--ops", options.ops, "Operations, over all graphs (1000)")
      ->option_text("N")
      ->check(CLI::Range(uint64_t{1}, kMostOps));
  app.add_option("--streams", options.streams, "Streams; pipeline: stages (2)")
      ->option_text("N")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--graphs", options.graphs, "Graphs, one captured after the other (1)")
      ->option_text("N")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--seed", options.seed, "Seed of the random choices (1)")->option_text("N");
}

}  // namespace

void AddSynthCommand(CLI::App& app, int& exit_code) {
  const auto [sub, request] = AddCommand<SynthRequest>(
      app, exit_code, RunSynth, "synth", "Generate a trace of any size, without a program",
      {"graphkit synth --ops 10000 --streams 4 -o trace.json",
       "graphkit synth --shape training --ops 1000000 --streams 8 -o big.json.zst"});
  SynthOptions& options = request->options;
  AddChoice<SynthShape>(
      *sub, "--shape", options.shape,
      {{"random", SynthShape::kRandom},
       {"training", SynthShape::kTraining},
       {"pipeline", SynthShape::kPipeline},
       {"fork-join", SynthShape::kForkJoin},
       {"one-by-one", SynthShape::kOneByOne},
       {"relay", SynthShape::kRelay}},
      "Random operations (the default), training steps, a 1F1B pipeline, or branches on "
      "streams of their own: forked and joined together, one by one, or each "
      "after the one before");
  AddCounts(*sub, options);
  AddProbability(*sub, "--join", options.join, "Random: a stream waits for another one (0.1)");
  AddProbability(*sub, "--alloc", options.alloc, "Random: a block is allocated (0.1)");
  AddProbability(*sub, "--free", options.free, "Random: a block is freed instead (0.1)");
  AddProbability(*sub, "--programmatic", options.programmatic,
                 "A kernel is launched programmatically (0)");
  AddSizes(*sub, options);
  AddOutput(*sub, request->output);
}

}  // namespace graphkit
