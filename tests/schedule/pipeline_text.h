// Orders of pipelines and their memory, for people.
#pragma once

#include <string>
#include <vector>

#include "libgraphkit/render/text_layout.h"
#include "tests/schedule/pipeline_memory.h"
#include "tests/schedule/schedule.h"

namespace graphkit {

// One rank's order, and the memory that it takes by each rule.
struct RankPipeline {
  uint32_t rank = 0;
  uint32_t warmup = 0;
  StepOrder order;
  std::vector<PipelineMemory> memory;
};

// A table of the ranks; `details` adds each rank's order, the activations held along it, every
// rule's buffers and their places.
struct PipelineView {
  std::string title;  // "4 stages, 2 chunks, 32 microbatches"
  std::vector<RankPipeline> ranks;
  bool sizes_known = false;  // bytes mean something
  bool details = false;
};
void RenderPipelineText(const PipelineView& view, const TextOut& out);

}  // namespace graphkit
