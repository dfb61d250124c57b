#include "libgraphkit/schedule/step_order.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

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
  double number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
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

std::string StepOrderText(const StepOrder& order) {
  std::string text;
  for (const PipelineStep& step : order.steps) {
    if (!text.empty()) text += ' ';
    text += StepText(step);
  }
  return text;
}

}  // namespace graphkit
