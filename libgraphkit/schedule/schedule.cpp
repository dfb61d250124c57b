#include "libgraphkit/schedule/schedule.h"

#include <algorithm>

namespace graphkit {

namespace {

constexpr uint64_t kMostSteps = 10'000'000;

// Forwards of all chunks in their order: groups of microbatches, and in each the chunks in turn.
std::vector<PipelineStep> Forwards(const ScheduleOptions& options) {
  const uint32_t group = options.group == 0 ? options.stages : options.group;
  std::vector<PipelineStep> steps;
  for (uint32_t first = 0; first < options.microbatches; first += group) {
    const uint32_t end = std::min(first + group, options.microbatches);
    for (uint32_t chunk = 0; chunk < options.chunks; ++chunk) {
      for (uint32_t i = first; i < end; ++i) steps.push_back({StepKind::kForward, chunk, i});
    }
  }
  return steps;
}

// Backwards go through the chunks the other way.
std::vector<PipelineStep> Backwards(const std::vector<PipelineStep>& forwards, uint32_t chunks) {
  std::vector<PipelineStep> steps = forwards;
  for (PipelineStep& step : steps) {
    step.kind = StepKind::kBackward;
    step.chunk = chunks - 1 - step.chunk;
  }
  return steps;
}

std::vector<PipelineStep> Interleave(const std::vector<PipelineStep>& forwards,
                                     const std::vector<PipelineStep>& backwards, size_t warmup) {
  std::vector<PipelineStep> steps(forwards.begin(),
                                  forwards.begin() + static_cast<ptrdiff_t>(warmup));
  for (size_t i = warmup; i < forwards.size(); ++i) {
    steps.push_back(forwards[i]);
    steps.push_back(backwards[i - warmup]);
  }
  steps.insert(steps.end(), backwards.end() - static_cast<ptrdiff_t>(warmup), backwards.end());
  return steps;
}

std::vector<PipelineStep> DelayWeightGrads(const std::vector<PipelineStep>& steps) {
  std::vector<PipelineStep> delayed;
  for (size_t i = 0; i < steps.size(); ++i) {
    delayed.push_back(steps[i]);
    if (steps[i].kind != StepKind::kBackward) continue;
    PipelineStep weights = steps[i];
    weights.kind = StepKind::kWeightGrad;
    if (i + 1 < steps.size() && steps[i + 1].kind == StepKind::kForward) {
      delayed.push_back(steps[++i]);
    }
    delayed.push_back(weights);
  }
  return delayed;
}

Result<void> Check(const ScheduleOptions& options) {
  if (options.rank >= options.stages) {
    return Error{.message = "rank " + std::to_string(options.rank) + " of " +
                            std::to_string(options.stages) + " stages",
                 .hint = "ranks count from 0"};
  }
  if (options.stages == 0 || options.chunks == 0 || options.microbatches == 0) {
    return Error{.message = "a pipeline without stages, chunks or microbatches",
                 .hint = "each is at least 1"};
  }
  if (options.chunks > 1 && options.group != 0 && options.group < options.stages) {
    return Error{.message = "groups of " + std::to_string(options.group) +
                            " microbatches are fewer than the " + std::to_string(options.stages) +
                            " stages",
                 .hint = "a group is at least as large as there are stages"};
  }
  if (uint64_t{3} * options.chunks * options.microbatches > kMostSteps) {
    return Error{.message = "more than ten million steps",
                 .hint = "take fewer chunks or microbatches"};
  }
  return {};
}

}  // namespace

uint32_t WarmupForwards(const ScheduleOptions& options) {
  const uint32_t all = options.chunks * options.microbatches;
  if (options.kind != ScheduleKind::kOneFOneB) return all;
  const uint32_t later = options.stages - options.rank - 1;
  if (options.chunks == 1) return std::min(later, all);
  const uint32_t group = options.group == 0 ? options.stages : options.group;
  const uint64_t warmup =
      uint64_t{2} * later + uint64_t{options.chunks - 1} * group + (options.overlap_moe ? 1 : 0);
  return static_cast<uint32_t>(std::min<uint64_t>(warmup, all));
}

Result<StepOrder> MakeSchedule(const ScheduleOptions& options) {
  if (const Result<void> ok = Check(options); !ok) return ok.error();
  StepOrder order{.chunks = options.chunks, .microbatches = options.microbatches, .steps = {}};
  const std::vector<PipelineStep> forwards = Forwards(options);
  if (options.kind == ScheduleKind::kForwardOnly) {
    order.steps = forwards;
    return order;
  }
  order.steps = Interleave(forwards, Backwards(forwards, options.chunks), WarmupForwards(options));
  if (options.delay_weight_grads) order.steps = DelayWeightGrads(order.steps);
  return order;
}

}  // namespace graphkit
