#include "tests/schedule/schedule.h"

#include <algorithm>
#include <cmath>

#include "libgraphkit/checked_number.h"

namespace graphkit {
namespace {

constexpr double kMostChunks = 65536;
constexpr uint32_t kNoChunk = 0xffffffffu;

Error Bad(size_t index, const std::string& entry, const std::string& what) {
  return Error{
      .message = "entry " + std::to_string(index + 1) + " of the order, " + entry + ", " + what,
      .hint = "an order reads like 1 1 -1 -1: chunks from 1, negative ones backward"};
}

std::optional<PipelineStep> ParseStep(std::string_view word) {
  const double number = ParseNumber<double>(word).value_or(0);
  const double whole = std::trunc(number);
  const bool half = std::abs(number - whole) == 0.5;
  if (!half && number != whole) return std::nullopt;
  if (std::abs(whole) < 1 || std::abs(whole) > kMostChunks || (half && number > 0)) {
    return std::nullopt;
  }
  PipelineStep step;
  step.kind = half ? StepKind::kWeightGrad : number > 0 ? StepKind::kForward : StepKind::kBackward;
  step.chunk = static_cast<uint32_t>(std::abs(whole)) - 1;
  return step;
}

// Counts the steps of each chunk, and numbers the microbatches.
class OrderChecker {
 public:
  explicit OrderChecker(uint32_t chunks) : counts_(chunks) {}

  // The fault of the step after those before it; empty when nothing is.
  std::string Take(PipelineStep& step) {
    Counts& counts = counts_[step.chunk];
    switch (step.kind) {
      case StepKind::kForward:
        step.microbatch = counts.forwards++;
        return "";
      case StepKind::kBackward:
        if (counts.backwards == counts.forwards) return "is a backward before its forward";
        step.microbatch = counts.backwards++;
        last_backward_ = step.chunk;
        return "";
      case StepKind::kWeightGrad:
        if (last_backward_ != step.chunk || counts.weight_grads == counts.backwards) {
          return "holds weight gradients of another backward than the last one";
        }
        step.microbatch = counts.backwards - 1;
        counts.weight_grads++;
        last_backward_ = kNoChunk;
        return "";
    }
    return "";
  }

  // The fault of the whole; empty when nothing is.
  std::string Finish(uint32_t& microbatches) const {
    microbatches = counts_[0].forwards;
    bool backwards = false;
    bool weight_grads = false;
    for (const Counts& counts : counts_) {
      backwards |= counts.backwards != 0;
      weight_grads |= counts.weight_grads != 0;
    }
    for (size_t chunk = 0; chunk < counts_.size(); ++chunk) {
      const Counts& counts = counts_[chunk];
      const std::string of = "chunk " + std::to_string(chunk + 1) + " has ";
      if (counts.forwards != microbatches) {
        return of + std::to_string(counts.forwards) + " forwards, chunk 1 has " +
               std::to_string(microbatches);
      }
      if (backwards && counts.backwards != counts.forwards) {
        return of + std::to_string(counts.forwards) + " forwards and " +
               std::to_string(counts.backwards) + " backwards";
      }
      if (weight_grads && counts.weight_grads != counts.backwards) {
        return of + std::to_string(counts.backwards) + " backwards and " +
               std::to_string(counts.weight_grads) + " weight gradients";
      }
    }
    return "";
  }

 private:
  struct Counts {
    uint32_t forwards = 0;
    uint32_t backwards = 0;
    uint32_t weight_grads = 0;
  };
  std::vector<Counts> counts_;         // by chunk
  uint32_t last_backward_ = kNoChunk;  // whose weight gradients may come
};

Result<std::vector<PipelineStep>> ParseSteps(std::string_view text) {
  constexpr std::string_view kBetween = " \t\r\n,[]()";
  std::vector<PipelineStep> steps;
  for (size_t at = text.find_first_not_of(kBetween); at != std::string_view::npos;) {
    const size_t end = std::min(text.find_first_of(kBetween, at), text.size());
    const std::string_view word = text.substr(at, end - at);
    const std::optional<PipelineStep> step = ParseStep(word);
    if (!step) {
      return Bad(steps.size(), "'" + std::string(word.substr(0, 40)) + "'",
                 "is no chunk, as 1, -1 or -1.5");
    }
    steps.push_back(*step);
    at = text.find_first_not_of(kBetween, end);
  }
  return steps;
}

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

// "1", "-2", "-1.5".
std::string StepText(const PipelineStep& step) {
  const std::string chunk = std::to_string(step.chunk + 1);
  switch (step.kind) {
    case StepKind::kForward:
      return chunk;
    case StepKind::kBackward:
      return "-" + chunk;
    case StepKind::kWeightGrad:
      return "-" + chunk + ".5";
  }
  return chunk;
}

}  // namespace

bool StepOrder::forward_only() const {
  return std::ranges::all_of(steps, [](const auto& s) { return s.kind == StepKind::kForward; });
}

bool StepOrder::delays_weight_grads() const {
  return std::ranges::any_of(steps, [](const auto& s) { return s.kind == StepKind::kWeightGrad; });
}

Result<StepOrder> ParseStepOrder(std::string_view text) {
  Result<std::vector<PipelineStep>> steps = ParseSteps(text);
  if (!steps) return steps.error();
  if (steps->empty()) {
    return Error{.message = "the order is empty", .hint = "write one like 1 1 -1 -1"};
  }
  StepOrder order{.steps = *std::move(steps)};
  for (const PipelineStep& step : order.steps) {
    order.chunks = std::max(order.chunks, step.chunk + 1);
  }
  OrderChecker checker(order.chunks);
  for (size_t i = 0; i < order.steps.size(); ++i) {
    const std::string wrong = checker.Take(order.steps[i]);
    if (!wrong.empty()) return Bad(i, StepText(order.steps[i]), wrong);
  }
  const std::string wrong = checker.Finish(order.microbatches);
  if (!wrong.empty()) {
    return Error{.message = wrong + " in the order",
                 .hint = "each chunk runs every microbatch once"};
  }
  return order;
}

std::string StepOrderText(const StepOrder& order) {
  std::string text;
  for (const PipelineStep& step : order.steps) {
    if (!text.empty()) text += ' ';
    text += StepText(step);
  }
  return text;
}

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
