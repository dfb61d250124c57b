// graphkit-synth: writes a trace of any size without a program, for tests and benchmarks.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <map>
#include <string>

#include "libgraphkit/io/trace/trace_writer.h"
#include "libgraphkit/ran/resolve.h"
#include "tests/generate/synth.h"

namespace graphkit {

namespace {

constexpr uint64_t kMostOps = 100'000'000;
constexpr uint32_t kMostStreams = 1'000'000;

const std::map<std::string, SynthShape> kShapes = {
    {"random", SynthShape::kRandom},       {"training", SynthShape::kTraining},
    {"pipeline", SynthShape::kPipeline},   {"fork-join", SynthShape::kForkJoin},
    {"one-by-one", SynthShape::kOneByOne}, {"relay", SynthShape::kRelay}};

std::string CheckSizes(const std::string& text) {
  if (ParseSizeDistribution(text)) return "";
  return "invalid sizes '" + text + "'; like 4MiB, uniform:1MiB-8MiB, log:512B-64MiB";
}

void AddSizes(CLI::App& app, SynthOptions& options) {
  const auto set = [&options](const std::string& text) {
    options.sizes = *ParseSizeDistribution(text);
  };
  app.add_option_function<std::string>("--size-dist", set, "Sizes of the blocks (4MiB)")
      ->option_text("SIZE|uniform:A-B|log:A-B")
      ->check(CheckSizes);
}

void AddProbability(CLI::App& app, const std::string& name, double& value,
                    const std::string& purpose) {
  app.add_option(name, value, purpose)->option_text("P")->check(CLI::Range(0.0, 1.0));
}

void AddOptions(CLI::App& app, SynthOptions& options) {
  app.add_option("--shape", options.shape,
                 "random (the default), training, pipeline (1F1B), or branches: fork-join, "
                 "one-by-one, relay")
      ->option_text("SHAPE")
      ->transform(CLI::CheckedTransformer(kShapes));
  app.add_option("--ops", options.ops, "Operations, over all graphs (1000)")
      ->option_text("N")
      ->check(CLI::Range(uint64_t{1}, kMostOps));
  app.add_option("--streams", options.streams, "Streams; pipeline: stages (2)")
      ->option_text("N")
      ->check(CLI::Range(uint32_t{1}, kMostStreams));
  app.add_option("--graphs", options.graphs, "Graphs, one captured after the other (1)")
      ->option_text("N")
      ->check(CLI::Range(uint32_t{1}, kMostStreams));
  app.add_option("--seed", options.seed, "Seed of the random choices (1)")->option_text("N");
  AddProbability(app, "--join", options.join, "random: a stream waits for another one (0.1)");
  AddProbability(app, "--alloc", options.alloc, "random: a block is allocated (0.1)");
  AddProbability(app, "--free", options.free, "random: a block is freed instead (0.1)");
  AddProbability(app, "--programmatic", options.programmatic,
                 "A kernel is launched programmatically (0)");
  AddSizes(app, options);
}

int Main(int argc, char** argv) {
  CLI::App app(
      "Writes a synthetic trace.\n\nExample:\n  graphkit-synth --shape training --ops "
      "1000000 --streams 8 -o big.json.zst");
  SynthOptions options;
  std::string output = "-";
  AddOptions(app, options);
  app.add_option("-o,--output", output, "The trace; - is standard output (-)")->option_text("FILE");
  CLI11_PARSE(app, argc, argv);
  const Result<void> written = WriteTrace(AsRecorded(Synthesize(options)), output);
  if (written) return 0;
  std::cerr << "graphkit-synth: " << written.error().message << '\n';
  return 2;
}

}  // namespace

}  // namespace graphkit

int main(int argc, char** argv) { return graphkit::Main(argc, argv); }
