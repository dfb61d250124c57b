// graphkit-pipeline: prints the buffers that a pipeline-parallel schedule needs, by the rules of
// pipeline_memory.h.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "libgraphkit/units.h"
#include "tests/schedule/pipeline_text.h"

namespace graphkit {

namespace {

struct PipelineArguments {
  ScheduleOptions schedule;
  std::string order;  // instead of a schedule
  std::optional<uint32_t> rank;
  uint32_t layers = 1;  // of each chunk
  Bytes input = 1;      // bytes that layers pass to each other
};

const std::map<std::string, ScheduleKind> kSchedules = {
    {"1f1b", ScheduleKind::kOneFOneB},
    {"forward-only", ScheduleKind::kForwardOnly},
    {"f-then-b", ScheduleKind::kForwardThenBackward}};

PipelineLayers LayersOf(const PipelineArguments& arguments, uint32_t chunks) {
  const PipelineLayer layer{.signature = "", .input = arguments.input, .output = arguments.input};
  return {.chunks = {chunks, std::vector<PipelineLayer>(arguments.layers, layer)}};
}

Result<RankPipeline> PlaceRank(const PipelineArguments& arguments, uint32_t rank, StepOrder order) {
  RankPipeline pipeline{.rank = rank, .order = std::move(order)};
  const PipelineLayers layers = LayersOf(arguments, pipeline.order.chunks);
  for (const PipelineRuleInfo& rule : PipelineRules()) {
    Result<PipelineMemory> memory = PlacePipeline(pipeline.order, layers, rule.rule);
    if (!memory) return memory.error();
    if (!FindClashes(*memory).empty()) {
      return Error{.message = "two buffers of rule " + std::string(rule.name) + " overlap"};
    }
    pipeline.memory.push_back(*std::move(memory));
  }
  return pipeline;
}

Result<void> AddRank(const PipelineArguments& arguments, ScheduleOptions options,
                     PipelineView& view) {
  Result<StepOrder> order =
      arguments.order.empty() ? MakeSchedule(options) : ParseStepOrder(arguments.order);
  if (!order) return order.error();
  Result<RankPipeline> rank = PlaceRank(arguments, options.rank, *std::move(order));
  if (!rank) return rank.error();
  if (arguments.order.empty()) rank->warmup = WarmupForwards(options);
  view.ranks.push_back(*std::move(rank));
  return {};
}

Result<PipelineView> Place(const PipelineArguments& arguments) {
  PipelineView view{.title = "pipeline", .sizes_known = arguments.input > 1};
  ScheduleOptions options = arguments.schedule;
  const uint32_t first = arguments.rank.value_or(0);
  const bool one = arguments.rank || !arguments.order.empty();
  const uint32_t end = one ? first + 1 : options.stages;
  for (options.rank = first; options.rank < end; ++options.rank) {
    if (Result<void> added = AddRank(arguments, options, view); !added) return added.error();
  }
  view.details = view.ranks.size() == 1;
  return view;
}

void AddOptions(CLI::App& app, PipelineArguments& arguments) {
  ScheduleOptions& options = arguments.schedule;
  app.add_option("--schedule", options.kind, "1f1b (the default), forward-only or f-then-b")
      ->transform(CLI::CheckedTransformer(kSchedules));
  app.add_option("--order", arguments.order, "Instead: chunks from 1, negative ones backward");
  app.add_option("--stages", options.stages, "Pipeline-parallel ranks (1)");
  app.add_option("--chunks", options.chunks, "Model chunks of a rank (1)");
  app.add_option("--microbatches", options.microbatches, "Microbatches of a step (1)");
  app.add_option("--group", options.group, "Microbatches before the next chunk's turn (stages)");
  app.add_option("--rank", arguments.rank, "Only this rank, with its order and its buffers");
  app.add_option("--layers", arguments.layers, "Layers of each chunk (1)");
  app.add_option("--input-bytes", arguments.input,
                 "Bytes of a layer's input, output and gradients, each");
}

int Print(const Result<PipelineView>& view) {
  if (view) {
    RenderPipelineText(*view, {.style = {}, .out = std::cout});
    return 0;
  }
  std::cerr << "graphkit-pipeline: " << view.error().message << '\n';
  return 2;
}

}  // namespace

}  // namespace graphkit

int main(int argc, char** argv) {
  CLI::App app("Prints the buffers that a pipeline-parallel schedule needs.");
  graphkit::PipelineArguments arguments;
  graphkit::AddOptions(app, arguments);
  CLI11_PARSE(app, argc, argv);
  return graphkit::Print(graphkit::Place(arguments));
}
