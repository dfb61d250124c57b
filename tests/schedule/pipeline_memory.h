// The buffers that stand between the graphs of a pipeline, and how long each is needed.
//
// Every layer of every chunk is a graph for each of its microbatches, forward and backward. Time is
// counted in those graphs, in the order of their capture and replay:
//
//   order 1 -1, two layers      tick  0   1   2   3
//                                    F.0 F.1 B.1 B.0
//   input of layer 0                 |-----------|      its backward reads it (saves_input)
//   output of layer 1                    |---|          until its backward
//   gradient of that output                  |-|        inside the backward only
//   gradient of layer 1's input              |---|      until the next layer's backward has read it
//   gradient of layer 0's input                  |-...  until the next step is over: it is sent
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "libgraphkit/alloc/judge/validate.h"
#include "libgraphkit/interval.h"
#include "libgraphkit/model/plan_problem.h"
#include "libgraphkit/result.h"
#include "tests/schedule/schedule.h"

namespace graphkit {

// Layers of one rank's model chunks and the sizes that they pass to each other: the buffers of a
// pipeline's graphs follow from.

// One layer, captured as a graph of its own for every microbatch.
struct PipelineLayer {
  // Buffers of layers with equal signatures may stand in for each other: shapes, types and layouts
  // of the arguments, in whatever words.
  std::string signature;
  Bytes input = 0;          // its input, and the gradient of it
  Bytes output = 0;         // its output, and the gradient of it
  bool saves_input = true;  // its backward reads the input
  bool saves_output = false;
  bool operator==(const PipelineLayer&) const = default;
};

struct PipelineLayers {
  std::vector<std::vector<PipelineLayer>> chunks;  // chunks[c][l], in the order of the forward
};

enum class BufferRole : uint8_t { kInput, kOutput, kOutputGrad, kInputGrad };
inline constexpr size_t kBufferRoles = 4;

struct GraphBuffer {
  BufferRole role = BufferRole::kInput;
  uint32_t chunk = 0;
  uint32_t layer = 0;
  uint32_t microbatch = 0;
  uint32_t step = 0;  // that fills it: a place in the order
  uint32_t freed_by =
      0;  // the step after which it may be given away; the number of steps: at the end
  Bytes size = 0;
  Interval<int64_t> ticks;  // when it is needed
};

// When outputs are let go.
enum class OutputRule : uint8_t {
  // After their backward was captured, and gradients of inputs after the next layer's backward, for
  // a chunk's first layer after the next step that is a backward: Transformer Engine's weak
  // references.
  kAfterBackward,
  // As soon as they are sent, which is when the next step is over, unless their backward reads them
  // (saves_output); inputs as soon as the forward is over, unless saves_input: Paddle's release
  // after send with its protected tensors.
  kAfterSend,
};

// By step, layer and role. Fails when the layers are of another number of chunks than the order.
Result<std::vector<GraphBuffer>> FindBuffers(const StepOrder& order, const PipelineLayers& layers,
                                             OutputRule rule);

// How many chunks' activations are held after each step: forwards whose backward hasn't run.
std::vector<uint32_t> ActivationsHeld(const StepOrder& order);

// The memory that a pipeline's buffers take, by the rules of those who capture pipelines and as
// graphkit plans it: for every buffer where it lies, so that what shares memory with what can be
// read off and checked.

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

  Bytes live_peak() const;
};

// Fails as FindBuffers does.
Result<PipelineMemory> PlacePipeline(const StepOrder& order, const PipelineLayers& layers,
                                     PipelineRule rule);

// Buffers that are needed at the same time and share bytes: none, or an error of the rule.
std::vector<PlanViolation> FindClashes(const PipelineMemory& memory);

}  // namespace graphkit
