// `graphkit pipeline`: what the schedule of a pipeline needs, and whether a trace kept to it.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "libgraphkit/analysis/analyze.h"
#include "libgraphkit/io/files/plan_files.h"
#include "libgraphkit/render/pipeline/pipeline.h"
#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/cli/progress.h"
#include "tools/graphkit/cli/talk.h"
#include "tools/graphkit/commands.h"
#include "tools/graphkit/files/input.h"
#include "tools/graphkit/files/output.h"

namespace graphkit {

namespace {

struct PipelineArguments {
  std::string trace;
  std::string order;
  std::string layers_file;
  ScheduleOptions schedule;
  std::optional<uint32_t> rank;
  std::vector<uint32_t> layer_counts;
  std::optional<Bytes> input;
  std::optional<Bytes> output;
  bool saves_output = false;
  bool map = false;
  Format format = Format::kText;
  std::string file = "-";
};

std::string Microbatches(uint32_t count) {
  return FormatCount(count) + (count == 1 ? " microbatch" : " microbatches");
}

bool SizesKnown(const PipelineArguments& arguments) {
  return !arguments.layers_file.empty() || arguments.input || arguments.output;
}

Result<PipelineLayers> LayersOf(const PipelineArguments& arguments, uint32_t chunks) {
  if (!arguments.layers_file.empty()) return ReadLayersFile(arguments.layers_file);
  const std::vector<uint32_t>& counts = arguments.layer_counts;
  if (counts.size() > 1 && counts.size() != chunks) {
    return Error{.message = "--layers-per-chunk has " + std::to_string(counts.size()) +
                            " numbers for " + std::to_string(chunks) + " chunks",
                 .hint = "give one for all, or one for each"};
  }
  PipelineLayers layers;
  const Bytes input = arguments.input.value_or(arguments.output.value_or(1));
  const PipelineLayer layer{.signature = "",
                            .input = input,
                            .output = arguments.output.value_or(input),
                            .saves_output = arguments.saves_output};
  for (uint32_t chunk = 0; chunk < chunks; ++chunk) {
    const uint32_t count = counts.empty() ? 1 : counts[std::min<size_t>(chunk, counts.size() - 1)];
    layers.chunks.emplace_back(count, layer);
  }
  return layers;
}

Result<RankPipeline> PlaceRank(const PipelineArguments& arguments, uint32_t rank, StepOrder order) {
  RankPipeline pipeline{.rank = rank, .order = std::move(order)};
  for (const PipelineStep& step : pipeline.order.steps) {
    if (step.kind != StepKind::kForward) break;
    ++pipeline.warmup;
  }
  // The forward that stands before the first backward is that one's turn.
  if (!pipeline.order.forward_only()) --pipeline.warmup;
  const Result<PipelineLayers> layers = LayersOf(arguments, pipeline.order.chunks);
  if (!layers) return layers.error();
  for (const PipelineRuleInfo& rule : PipelineRules()) {
    Result<PipelineMemory> memory = PlacePipeline(pipeline.order, *layers, rule.rule);
    if (!memory) return memory.error();
    if (!FindClashes(*memory).empty()) {
      return Error{.message = "two buffers of rule " + std::string(rule.name) + " overlap",
                   .hint = "nothing was written; this is an error of graphkit"};
    }
    pipeline.memory.push_back(*std::move(memory));
  }
  return pipeline;
}

Result<PipelineView> PlaceOrder(const PipelineArguments& arguments) {
  Result<StepOrder> order = ParseStepOrder(arguments.order);
  if (!order) return order.error();
  PipelineView view;
  view.title = Counted(order->chunks, "chunk") + ", " + Microbatches(order->microbatches);
  Result<RankPipeline> rank = PlaceRank(arguments, 0, *std::move(order));
  if (!rank) return rank.error();
  view.ranks.push_back(*std::move(rank));
  return view;
}

std::string TitleOf(const ScheduleOptions& schedule) {
  std::string kind = schedule.chunks > 1 ? "interleaved 1F1B" : "1F1B";
  if (schedule.kind == ScheduleKind::kForwardOnly) kind = "forward only";
  if (schedule.kind == ScheduleKind::kForwardThenBackward) kind = "F-then-B";
  if (schedule.delay_weight_grads) kind += " with delayed weight gradients";
  return kind + ", " + Counted(schedule.stages, "stage") + ", " +
         Counted(schedule.chunks, "chunk") + ", " + Microbatches(schedule.microbatches);
}

Result<PipelineView> PlaceSchedule(const PipelineArguments& arguments) {
  PipelineView view;
  view.title = TitleOf(arguments.schedule);
  ScheduleOptions options = arguments.schedule;
  const uint32_t first = arguments.rank.value_or(0);
  const uint32_t end = arguments.rank ? first + 1 : options.stages;
  for (options.rank = first; options.rank < end; ++options.rank) {
    Result<StepOrder> order = MakeSchedule(options);
    if (!order) return order.error();
    Result<RankPipeline> rank = PlaceRank(arguments, options.rank, *std::move(order));
    if (!rank) return rank.error();
    rank->warmup = WarmupForwards(options);
    view.ranks.push_back(*std::move(rank));
  }
  return view;
}

int ShowSchedule(const PipelineArguments& arguments) {
  Result<PipelineView> view = [&] {
    const Progress progress("placing the buffers");
    return arguments.order.empty() ? PlaceSchedule(arguments) : PlaceOrder(arguments);
  }();
  if (!view) return PrintError(view.error());
  view->sizes_known = SizesKnown(arguments);
  view->details = view->ranks.size() == 1;
  view->map = arguments.map;
  const Result<void> written = WriteOutput(arguments.file, [&](std::ostream& out) {
    if (arguments.format == Format::kJson) return RenderPipelineJson(*view, out);
    RenderPipelineText(*view, StyleFor(arguments.file), out);
  });
  return written ? kExitOk : PrintError(written.error());
}

// The hazards of graphs that leave memory to each other.
const std::vector<std::string> kReplayChecks = {"replay-order", "send-buffer-reuse"};

int CheckTrace(const PipelineArguments& arguments) {
  const Result<Trace> trace = ReadInput(arguments.trace);
  if (!trace) return PrintError(trace.error());
  PoolReplayView view;
  {
    const Progress progress("following " + arguments.trace);
    Result<Report> report = Analyze(*trace, {.checks = kReplayChecks});
    if (!report) return PrintError(report.error());
    view = {FindPoolReplays(*trace), std::move(report->findings)};
  }
  const Result<void> written = WriteOutput(arguments.file, [&](std::ostream& out) {
    if (arguments.format == Format::kJson) return RenderReplaysJson(view, out);
    RenderReplaysText(view, *trace, StyleFor(arguments.file), out);
  });
  if (!written) return PrintError(written.error());
  const int incomplete = WarnIncomplete(*trace, arguments.trace);
  if (incomplete != kExitOk) return incomplete;
  const bool departs = std::ranges::any_of(
      view.pools, [](const PoolReplays& pool) { return pool.departure_count != 0; });
  return departs || !view.findings.empty() ? kExitFailed : kExitOk;
}

int RunPipeline(const PipelineArguments& arguments) {
  const bool nothing = arguments.trace.empty() && arguments.order.empty() &&
                       arguments.layers_file.empty() && !arguments.input &&
                       arguments.schedule == ScheduleOptions();
  if (nothing) {
    return PrintError(Error{.message = "pipeline: neither a trace nor a schedule is given",
                            .hint =
                                "for example graphkit pipeline --stages 4 --microbatches 32, or "
                                "graphkit pipeline trace.json"});
  }
  return arguments.trace.empty() ? ShowSchedule(arguments) : CheckTrace(arguments);
}

void AddSchedule(CLI::App& sub, PipelineArguments& arguments) {
  ScheduleOptions& options = arguments.schedule;
  constexpr uint32_t kMost = 1'000'000;
  const auto count = [&sub](const char* name, uint32_t& value, const char* what) {
    return sub.add_option(name, value, what)
        ->option_text("N")
        ->check(CLI::Range(uint32_t{1}, kMost));
  };
  AddChoice<ScheduleKind>(sub, "--schedule", options.kind,
                          {{"1f1b", ScheduleKind::kOneFOneB},
                           {"forward-only", ScheduleKind::kForwardOnly},
                           {"f-then-b", ScheduleKind::kForwardThenBackward}},
                          "1f1b (the default), with several chunks interleaved");
  count("--stages", options.stages, "pipeline-parallel ranks (1)");
  count("--chunks", options.chunks, "model chunks of a rank: virtual stages (1)");
  count("--microbatches", options.microbatches, "microbatches of a step (1)");
  count("--group", options.group,
        "interleaved: microbatches before the next chunk's turn (the stages)");
  sub.add_flag("--overlap-moe", options.overlap_moe,
               "interleaved: one more warm-up forward, as overlapped expert communication has");
  sub.add_flag("--delay-weight-grads", options.delay_weight_grads,
               "weight gradients wait until after the next forward (x.5)");
  sub.add_option("--rank", arguments.rank, "this rank only, with its order and buffers")
      ->option_text("N");
  sub.add_option("--order", arguments.order,
                 "an order instead: chunks from 1, negative ones backward, x.5 weight gradients")
      ->option_text("\"1 -1 …\"")
      ->excludes("--schedule", "--stages", "--chunks", "--microbatches", "--group", "--rank");
}

void AddLayers(CLI::App& sub, PipelineArguments& arguments) {
  sub.add_option("--layers-per-chunk", arguments.layer_counts,
                 "layers of each chunk, one number for all or one for each (1)")
      ->option_text("N,…")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(1, 10'000));
  AddSize(sub, "--input-bytes", arguments.input, "a layer's input, and its gradient: 64MiB");
  AddSize(sub, "--output-bytes", arguments.output,
          "a layer's output, and its gradient (as the input)");
  sub.add_flag("--saves-output", arguments.saves_output,
               "a layer's backward reads its output: it can't be released after the send");
  sub.add_option("--layers", arguments.layers_file,
                 "the layers of each chunk with their signatures and sizes (docs/pipeline.md)")
      ->option_text("FILE")
      ->excludes("--layers-per-chunk", "--input-bytes", "--output-bytes");
  sub.add_flag("--map", arguments.map, "also list which buffers share memory");
}

}  // namespace

void AddPipelineCommand(CLI::App& app, int& exit_code) {
  const auto [sub, arguments] = AddCommand<PipelineArguments>(
      app, exit_code, RunPipeline, "pipeline",
      "Say what buffers a pipeline's schedule needs, or whether replays kept to it",
      {"graphkit pipeline --stages 4 --chunks 2 --microbatches 32 --input-bytes 64MiB",
       "graphkit pipeline --order \"1 1 -1 -1\" --input-bytes 64MiB --map",
       "graphkit pipeline trace.json"});
  sub->add_option("trace", arguments->trace,
                  "a trace, to check that replays followed the order of the captures");
  AddSchedule(*sub, *arguments);
  AddLayers(*sub, *arguments);
  AddView(*sub, arguments->format, arguments->file);
}

}  // namespace graphkit
