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
#pragma once

#include <cstdint>

#include "libgraphkit/schedule/step_order.h"

namespace graphkit {

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
