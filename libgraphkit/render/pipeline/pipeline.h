// Orders of pipelines and their memory: for people, and as JSON.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "libgraphkit/model/finding.h"
#include "libgraphkit/model/trace.h"
#include "libgraphkit/render/text_layout.h"
#include "libgraphkit/schedule/pipeline_memory.h"
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
void RenderPipelineText(const PipelineView& view, const TextOut& out);
void RenderPipelineJson(const PipelineView& view, std::ostream& out);

// Replays of a trace's graphs, and the findings about them.
struct PoolReplayView {
  std::vector<PoolReplays> pools;
  std::vector<Finding> findings;
};
void RenderReplaysText(const PoolReplayView& view, const Trace& trace, const TextOut& out);
void RenderReplaysJson(const PoolReplayView& view, std::ostream& out);

}  // namespace graphkit
