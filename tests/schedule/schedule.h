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

// The schedules that pipeline-parallel training runs by, as orders of one rank's steps.
//
// 1F1B over two stages, four microbatches:
//
//   rank 0   F0 F1 B0 F2 B1 F3 B2 B3       one forward of warm-up
//   rank 1   F0 B0 F1 B1 F2 B2 F3 B3       none
//
// Counts of warm-up forwards and the order of interleaved chunks are those of Megatron-LM's
// get_pp_rank_microbatches, get_schedule_table and convert_schedule_table_to_order
// (megatron/core/pipeline_parallel/schedules.py); F-then-B is Paddle's FthenB.

enum class ScheduleKind : uint8_t {
  kOneFOneB,             // with several chunks: interleaved
  kForwardOnly,          // evaluation
  kForwardThenBackward,  // all forwards first
};

struct ScheduleOptions {
  ScheduleKind kind = ScheduleKind::kOneFOneB;
  uint32_t stages = 1;  // pipeline-parallel ranks
  uint32_t rank = 0;
  uint32_t chunks = 1;  // model chunks (virtual stages) of a rank
  uint32_t microbatches = 1;
  // Interleaved: how many microbatches run through a chunk before the next chunk's turn; 0: as many
  // as there are stages.
  uint32_t group = 0;
  bool overlap_moe = false;  // interleaved: one more warm-up, for overlapped expert communication
  // Weight gradients wait until after the next forward, or follow their backward where none is
  // left.
  bool delay_weight_grads = false;
  bool operator==(const ScheduleOptions&) const = default;
};

// Forwards before the first backward takes its turn, of all chunks together. 1F1B: stages − rank −
// 1; interleaved: 2 (stages − rank − 1) + (chunks − 1) · group, one more with overlap_moe; never
// more than there are.
uint32_t WarmupForwards(const ScheduleOptions& options);

// Fails when the options contradict each other: a rank that isn't there, a group smaller than the
// stages, no microbatch, more than ten million steps.
Result<StepOrder> MakeSchedule(const ScheduleOptions& options);

}  // namespace graphkit
