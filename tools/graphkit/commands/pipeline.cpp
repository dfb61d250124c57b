// `graphkit pipeline`: the buffers that a pipeline-parallel schedule needs.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "libgraphkit/io/files/json_file.h"
#include "libgraphkit/io/files/plan_files.h"
#include "libgraphkit/render/pipeline/pipeline.h"
#include "tools/graphkit/cli/options.h"
#include "tools/graphkit/cli/progress.h"
#include "tools/graphkit/cli/talk.h"
#include "tools/graphkit/commands.h"

namespace graphkit {

namespace {

struct PipelineArguments {
  ScheduleOptions schedule;
  std::string order;  // instead of a schedule
  std::optional<uint32_t> rank;
  std::vector<uint32_t> layer_counts;
  std::string layers_file;
  std::optional<Bytes> input;
  View view;
};

std::string Microbatches(uint32_t count) {
  return FormatCount(count) + (count == 1 ? " microbatch" : " microbatches");
}

bool SizesKnown(const PipelineArguments& arguments) {
  return !arguments.layers_file.empty() || arguments.input;
}

Result<PipelineLayers> LayersOf(const PipelineArguments& arguments, uint32_t chunks) {
  if (!arguments.layers_file.empty()) return ReadWith(ParseLayers, arguments.layers_file);
  const std::vector<uint32_t>& counts = arguments.layer_counts;
  if (counts.size() > 1 && counts.size() != chunks) {
    return Error{.message = "--layers has " + std::to_string(counts.size()) + " numbers for " +
                            std::to_string(chunks) + " chunks",
                 .hint = "give one for all, or one for each"};
  }
  PipelineLayers layers;
  const Bytes bytes = arguments.input.value_or(1);
  const PipelineLayer layer{.signature = "", .input = bytes, .output = bytes};
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
  const Result<void> written = WriteView(
      arguments.view, [&](std::ostream& out) { RenderPipelineJson(*view, out); },
      [&](const TextOut& out) { RenderPipelineText(*view, out); });
  return written ? kExitOk : PrintError(written.error());
}

int RunPipeline(const PipelineArguments& arguments) {
  const bool nothing = arguments.order.empty() && arguments.layers_file.empty() &&
                       !arguments.input && arguments.schedule == ScheduleOptions();
  if (nothing) {
    return PrintError(Error{.message = "pipeline: no schedule is given",
                            .hint = "for example: graphkit pipeline --stages 4 --microbatches 32"});
  }
  if (!arguments.order.empty() && (arguments.schedule != ScheduleOptions() || arguments.rank)) {
    return PrintError(Error{.message = "pipeline: an order leaves no choice of a shape",
                            .hint = "omit --stages, --chunks, --microbatches, --group and --rank"});
  }
  return ShowSchedule(arguments);
}

constexpr const char* kOverlapMoe = "overlap-moe";
constexpr const char* kDelayWeightGrads = "delay-weight-grads";
struct ScheduleName {
  const char* name;
  ScheduleKind kind;
};
constexpr ScheduleName kSchedules[] = {{"1f1b", ScheduleKind::kOneFOneB},
                                       {"forward-only", ScheduleKind::kForwardOnly},
                                       {"f-then-b", ScheduleKind::kForwardThenBackward}};

bool IsOrder(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789.- ") == std::string::npos;
}

std::vector<std::string> ScheduleWords() {
  std::vector<std::string> words;
  for (const auto& [name, kind] : kSchedules) words.emplace_back(name);
  words.insert(words.end(), {kOverlapMoe, kDelayWeightGrads});
  return words;
}

std::string CheckSchedule(const std::string& text) {
  if (IsOrder(text)) return "";
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    if (std::string problem = CheckWord(word, ScheduleWords()); !problem.empty()) return problem;
  }
  return "";
}

// "1f1b,overlap-moe", or an order "1 1 -1 -1".
void SetSchedule(const std::string& text, PipelineArguments& arguments) {
  if (IsOrder(text)) {
    arguments.order = text;
    return;
  }
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    for (const auto& [name, kind] : kSchedules) {
      if (word == name) arguments.schedule.kind = kind;
    }
    if (word == kOverlapMoe) arguments.schedule.overlap_moe = true;
    if (word == kDelayWeightGrads) arguments.schedule.delay_weight_grads = true;
  }
}

// Numbers of layers, or a file.
bool IsLayerCounts(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789,") == std::string::npos;
}

std::string CheckLayers(const std::string& text) {
  constexpr int kMost = 10'000;
  if (!IsLayerCounts(text)) return "";
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    const int count = std::atoi(word.c_str());
    if (count < 1 || count > kMost || word.size() > 5) {
      return "invalid number of layers '" + word + "'; write 1 to " + FormatCount(kMost);
    }
  }
  return "";
}

void SetLayers(const std::string& text, PipelineArguments& arguments) {
  if (!IsLayerCounts(text)) {
    arguments.layers_file = text;
    return;
  }
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    arguments.layer_counts.push_back(static_cast<uint32_t>(std::atoi(word.c_str())));
  }
}

// Options of the schedule.
void AddSchedule(CLI::App& sub, PipelineArguments& arguments) {
  ScheduleOptions& options = arguments.schedule;
  constexpr uint32_t kMost = 1'000'000;
  const auto set = [&arguments](const std::string& text) { SetSchedule(text, arguments); };
  const auto count = [&sub](const char* name, uint32_t& value, const char* what) {
    sub.add_option(name, value, what)->option_text("N")->check(CLI::Range(uint32_t{1}, kMost));
  };
  sub.add_option_function<std::string>(
         "--schedule", set,
         "1f1b (the default; interleaved with several chunks), forward-only or f-then-b; "
         "overlap-moe adds one more warm-up forward, delay-weight-grads moves weight gradients "
         "behind the next forward. Or an order: chunks from 1, negative ones backward, x.5 weight "
         "gradients")
      ->option_text(JoinWords(ScheduleWords(), ",") + "|\"1 -1 …\"")
      ->check(CheckSchedule);
  count("--stages", options.stages, "Pipeline-parallel ranks (1)");
  count("--chunks", options.chunks, "Model chunks of a rank, its virtual stages (1)");
  count("--microbatches", options.microbatches, "Microbatches of a step (1)");
  count("--group", options.group,
        "Interleaved: microbatches before the next chunk's turn (the stages)");
  sub.add_option("--rank", arguments.rank,
                 "Show only this rank, with its order, its buffers and the memory that they share")
      ->option_text("N");
}

// Options of the layers.
void AddLayers(CLI::App& sub, PipelineArguments& arguments) {
  const auto set = [&arguments](const std::string& text) { SetLayers(text, arguments); };
  sub.add_option_function<std::string>(
         "--layers", set,
         "Layers of each chunk: a number, one number for each chunk, or a file with signatures and "
         "sizes (docs/pipeline.md)")
      ->option_text("N,…|FILE")
      ->check(CheckLayers);
  AddSize(sub, "--input-bytes", arguments.input,
          "Input, output and gradients of a layer, each: 64MiB");
}

}  // namespace

void AddPipelineCommand(CLI::App& app, int& exit_code) {
  const auto [sub, arguments] = AddCommand<PipelineArguments>(
      app, exit_code, RunPipeline, "pipeline",
      "Compute the buffers that a pipeline-parallel schedule needs",
      {"graphkit pipeline --stages 4 --chunks 2 --microbatches 32 --input-bytes 64MiB",
       "graphkit pipeline --schedule \"1 1 -1 -1\" --input-bytes 64MiB",
       "graphkit pipeline --stages 4 --layers layers.json --rank 0"});
  AddSchedule(*sub, *arguments);
  AddLayers(*sub, *arguments);
  AddView(*sub, arguments->view);
}

}  // namespace graphkit
