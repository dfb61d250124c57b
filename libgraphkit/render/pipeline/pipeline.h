// What a pipeline's order comes to: for a person, and as JSON.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "libgraphkit/model/finding.h"
#include "libgraphkit/model/trace.h"
#include "libgraphkit/render/text_layout.h"
#include "libgraphkit/schedule/pipeline_memory.h"
#include "libgraphkit/schedule/replay_order.h"
#include "libgraphkit/schedule/schedule.h"

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
void RenderPipelineText(const PipelineView& view, const TextStyle& style, std::ostream& out);
void RenderPipelineJson(const PipelineView& view, std::ostream& out);

// What replays of a trace's graphs did, and the findings about them.
struct PoolReplayView {
  std::vector<PoolReplays> pools;
  std::vector<Finding> findings;
};
void RenderReplaysText(const PoolReplayView& view, const Trace& trace, const TextStyle& style,
                       std::ostream& out);
void RenderReplaysJson(const PoolReplayView& view, std::ostream& out);

}  // namespace graphkit
