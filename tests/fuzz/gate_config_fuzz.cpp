// Any bytes, read as a gate's configuration, as its suppressions or as a pipeline's layers, give
// them or an error; each can be used: the three small files that people write.
#include <string>

#include "libgraphkit/io/files/gate_files.h"
#include "libgraphkit/io/files/plan_files.h"
#include "libgraphkit/schedule/pipeline_memory.h"
#include "libgraphkit/schedule/schedule.h"
#include "tests/fuzz/gate_files.h"

namespace {

using namespace graphkit;

constexpr Date kToday{2026, 6, 15};

void Place(const PipelineLayers& layers) {
  size_t count = 0;
  for (const auto& chunk : layers.chunks) count += chunk.size();
  if (layers.chunks.size() > 8 || count > 500) return;  // it would only take long
  const Result<StepOrder> order =
      MakeSchedule({.chunks = static_cast<uint32_t>(layers.chunks.size()), .microbatches = 2});
  if (!order) return;
  for (const PipelineRuleInfo& rule : PipelineRules()) {
    const auto placed = PlacePipeline(*order, layers, rule.rule);
    if (placed && placed->bytes < placed->lower_bound) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (auto file = ParseGateConfig(text, "fuzz")) {
    file->config.today = kToday;
    JudgeAndDraw(file->config, {});
  }
  if (auto suppressions = ParseSuppressions(text, "fuzz")) {
    GateConfig config{.fail_on_severity = Severity::kNote};
    config.suppressions = *std::move(suppressions);
    config.today = kToday;
    JudgeAndDraw(config, {});
  }
  if (const auto layers = ParseLayers(text, "fuzz")) Place(*layers);
  return 0;
}
