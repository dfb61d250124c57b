// The order in which one rank of a pipeline runs the chunks of its model: what Transformer Engine's
// make_graphed_callables takes as `_order`, and captures and replays its graphs by.
//
//   order  1 2 1 2 -2 -1 -2 -1        two chunks, two microbatches
//
//   step   0   1   2   3   4   5   6   7
//   chunk 0  F0      F1          B0      B1
//   chunk 1      F0      F1  B0      B1
//
// In text a positive number is a forward of that chunk, counted from 1, a negative one its
// backward, and x.5 the weight gradients of a backward that left them for later: -1.5 for chunk 1.
// The microbatches of a chunk come in order, so the text needn't name them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libgraphkit/result.h"

namespace graphkit {

enum class StepKind : uint8_t { kForward, kBackward, kWeightGrad };

struct PipelineStep {
  StepKind kind = StepKind::kForward;
  uint32_t chunk = 0;       // 0-based
  uint32_t microbatch = 0;  // 0-based
  bool operator==(const PipelineStep&) const = default;
};

struct StepOrder {
  uint32_t chunks = 1;
  uint32_t microbatches = 1;
  std::vector<PipelineStep> steps;
  bool operator==(const StepOrder&) const = default;

  bool forward_only() const;
  bool delays_weight_grads() const;
};

// "1 1 -1 -1", with commas, brackets and "1.0" as Python prints them. Fails when it isn't the order
// of a pipeline: every chunk has the same number of microbatches, a backward comes after its
// forward and there are none or as many as forwards, and the weight gradients of a chunk come while
// its backward is the last one that ran, once each, for all backwards or for none.
Result<StepOrder> ParseStepOrder(std::string_view text);

// The text of an order, as ParseStepOrder reads it.
std::string StepOrderText(const StepOrder& order);
// "1", "-2", "-1.5".
std::string StepText(const PipelineStep& step);

}  // namespace graphkit
