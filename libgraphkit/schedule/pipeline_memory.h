// The memory that a pipeline's buffers take, by the rules of those who capture pipelines and as
// graphkit plans it: for every buffer where it lies, so that what shares memory with what can be
// read off and checked.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "libgraphkit/model/pipeline_layers.h"
#include "libgraphkit/result.h"
#include "libgraphkit/schedule/graph_buffers.h"
#include "libgraphkit/schedule/step_order.h"

namespace graphkit {

enum class PipelineRule : uint8_t {
  kSeparate,  // every graph has its own
  // _reuse_graph_input_output_buffers of make_graphed_callables: a forward takes the input that was
  // given back first among those of its signature, and a backward gives its own back; one gradient
  // of outputs a signature, and a layer where weight gradients are delayed; outputs and gradients
  // of inputs come from the graphs' pool, which is taken to place them as well as can be.
  kTransformerEngine,
  kPlanned,           // lifetimes as above, placed by the planner without regard to signatures
  kReleaseAfterSend,  // and outputs released when they are sent
};

struct PipelineRuleInfo {
  PipelineRule rule;
  std::string_view name;
  std::string_view what;
};
std::span<const PipelineRuleInfo> PipelineRules();

// Buffers of one role.
struct RoleMemory {
  uint64_t uses = 0;     // graphs that have one
  uint64_t buffers = 0;  // distinct pieces of memory among them
  bool operator==(const RoleMemory&) const = default;
};

struct PipelineMemory {
  PipelineRule rule = PipelineRule::kSeparate;
  Bytes bytes = 0;        // the highest byte used
  Bytes lower_bound = 0;  // no placement of these lifetimes takes less
  std::array<RoleMemory, kBufferRoles> roles{};
  std::vector<GraphBuffer> buffers;
  std::vector<Bytes> offsets;       // offsets[i]: of buffers[i]
  std::vector<Bytes> live_by_step;  // most bytes needed at once during each step
  bool operator==(const PipelineMemory&) const = default;

  Bytes live_peak() const;
};

// Fails as FindBuffers does.
Result<PipelineMemory> PlacePipeline(const StepOrder& order, const PipelineLayers& layers,
                                     PipelineRule rule);

// Pairs of buffers that are needed at the same time and share bytes: none, or an error of the rule.
// A sweep that shares no code with the placement.
std::vector<std::pair<uint32_t, uint32_t>> FindClashes(const PipelineMemory& memory);

}  // namespace graphkit
