#include "libgraphkit/schedule/graph_buffers.h"

#include <algorithm>
#include <string>

#include "libgraphkit/checked_number.h"

namespace graphkit {

namespace {

// Where the steps of one microbatch of one chunk stand in the order.
struct StepPlaces {
  uint32_t forward = 0;
  uint32_t backward = 0;       // the number of steps: there is none
  uint32_t last_backward = 0;  // or its weight gradients, where they are delayed
};

class BufferFinder {
 public:
  BufferFinder(const StepOrder& order, const PipelineLayers& layers, OutputRule rule)
      : order_(order), layers_(layers), rule_(rule) {
    const uint32_t none = StepCount();
    places_.assign(order.chunks * size_t{order.microbatches}, {none, none, none});
    int64_t tick = 0;
    for (uint32_t i = 0; i < none; ++i) {
      const PipelineStep& step = order.steps[i];
      StepPlaces& places = PlacesOf(step);
      if (step.kind == StepKind::kForward) places.forward = i;
      if (step.kind == StepKind::kBackward) places.backward = i;
      if (step.kind != StepKind::kForward) places.last_backward = i;
      first_tick_.push_back(tick);
      tick += static_cast<int64_t>(layers.chunks[step.chunk].size());
    }
    first_tick_.push_back(tick);
    next_backward_.assign(none + 1, none);
    for (uint32_t i = none; i-- > 0;) {
      next_backward_[i] = order.steps[i].kind == StepKind::kBackward ? i : next_backward_[i + 1];
    }
  }

  std::vector<GraphBuffer> Find() {
    for (uint32_t i = 0; i < StepCount(); ++i) {
      if (order_.steps[i].kind == StepKind::kForward) AddForward(i);
      if (order_.steps[i].kind == StepKind::kBackward) AddBackward(i);
    }
    return std::move(buffers_);
  }

 private:
  uint32_t StepCount() const { return static_cast<uint32_t>(order_.steps.size()); }
  uint32_t LayerCount(const PipelineStep& step) const {
    return static_cast<uint32_t>(layers_.chunks[step.chunk].size());
  }
  StepPlaces& PlacesOf(const PipelineStep& step) {
    return places_[step.chunk * size_t{order_.microbatches} + step.microbatch];
  }

  // When a layer's graph of a step runs. Backwards go through the layers the other way.
  int64_t TickOf(uint32_t step, uint32_t layer) const {
    if (step >= StepCount()) return first_tick_.back();
    const bool forward = order_.steps[step].kind == StepKind::kForward;
    const uint32_t place = forward ? layer : LayerCount(order_.steps[step]) - 1 - layer;
    return first_tick_[step] + place;
  }
  int64_t EndOf(uint32_t step) const { return first_tick_[std::min(step + 1, StepCount())]; }

  void Add(BufferRole role, uint32_t step, uint32_t layer, uint32_t freed_by, int64_t end) {
    const PipelineStep& of = order_.steps[step];
    const PipelineLayer& shape = layers_.chunks[of.chunk][layer];
    const bool input = role == BufferRole::kInput || role == BufferRole::kInputGrad;
    const int64_t begin = TickOf(step, layer);
    buffers_.push_back({role,
                        of.chunk,
                        layer,
                        of.microbatch,
                        step,
                        freed_by,
                        input ? shape.input : shape.output,
                        {begin, std::max(end, begin + 1)}});
  }

  void AddForward(uint32_t step) {
    const PipelineStep& of = order_.steps[step];
    const StepPlaces& places = PlacesOf(of);
    const uint32_t backward = places.last_backward;
    for (uint32_t layer = 0; layer < LayerCount(of); ++layer) {
      const PipelineLayer& shape = layers_.chunks[of.chunk][layer];
      const bool until_backward = rule_ == OutputRule::kAfterBackward && backward < StepCount();
      if (until_backward || (shape.saves_input && backward < StepCount())) {
        Add(BufferRole::kInput, step, layer, backward, TickOf(backward, layer) + 1);
      } else {
        Add(BufferRole::kInput, step, layer, step, TickOf(step, layer) + 1);
      }
      AddOutput(step, layer, places, until_backward || shape.saves_output);
    }
  }

  void AddOutput(uint32_t step, uint32_t layer, const StepPlaces& places, bool until_backward) {
    if (until_backward && places.backward < StepCount()) {
      return Add(BufferRole::kOutput, step, layer, places.backward,
                 TickOf(places.backward, layer) + 1);
    }
    const bool last = layer + 1 == LayerCount(order_.steps[step]);
    if (!last) return Add(BufferRole::kOutput, step, layer, step, TickOf(step, layer) + 2);
    const uint32_t sent = std::min(step + 1, StepCount());
    Add(BufferRole::kOutput, step, layer, sent, EndOf(sent));
  }

  void AddBackward(uint32_t step) {
    const PipelineStep& of = order_.steps[step];
    const uint32_t last = PlacesOf(of).last_backward;
    for (uint32_t i = 0; i < LayerCount(of); ++i) {
      const uint32_t layer = LayerCount(of) - 1 - i;
      Add(BufferRole::kOutputGrad, step, layer, last, TickOf(last, layer) + 1);
      if (layer > 0) {
        Add(BufferRole::kInputGrad, step, layer, step, TickOf(step, layer) + 2);
        continue;
      }
      const uint32_t sent = rule_ == OutputRule::kAfterBackward ? next_backward_[step + 1]
                                                                : std::min(step + 1, StepCount());
      Add(BufferRole::kInputGrad, step, layer, sent, EndOf(sent));
    }
  }

  const StepOrder& order_;
  const PipelineLayers& layers_;
  OutputRule rule_;
  std::vector<StepPlaces> places_;       // by chunk and microbatch
  std::vector<int64_t> first_tick_;      // by step, and the end
  std::vector<uint32_t> next_backward_;  // by step: itself or the next one
  std::vector<GraphBuffer> buffers_;
};

// Two buffers a layer and step: neither their number nor their bytes may be beyond measure.
Result<void> CheckTotal(const StepOrder& order, const PipelineLayers& layers) {
  constexpr uint64_t kMostBuffers = 50'000'000;
  std::vector<MemorySum> chunks(layers.chunks.size());
  for (size_t i = 0; i < chunks.size(); ++i) {
    for (const PipelineLayer& layer : layers.chunks[i]) {
      if (chunks[i].Add(layer.input) && chunks[i].Add(layer.output)) continue;
      return Error{.message = "the layers of a chunk take more memory than there can be"};
    }
  }
  MemorySum total;
  uint64_t buffers = 0;
  for (const PipelineStep& step : order.steps) {
    buffers += 2 * layers.chunks[step.chunk].size();
    if (buffers <= kMostBuffers && total.Add(chunks[step.chunk].total())) continue;
    return Error{.message = "the steps need more than 50 000 000 buffers, or 2^62 bytes",
                 .hint = "give fewer layers, chunks or microbatches"};
  }
  return {};
}

}  // namespace

Result<std::vector<GraphBuffer>> FindBuffers(const StepOrder& order, const PipelineLayers& layers,
                                             OutputRule rule) {
  if (layers.chunks.size() != order.chunks) {
    return Error{.message = "layers of " + std::to_string(layers.chunks.size()) +
                            " chunks for an order of " + std::to_string(order.chunks),
                 .hint = "give the layers of every chunk"};
  }
  if (const Result<void> ok = CheckTotal(order, layers); !ok) return ok.error();
  return BufferFinder(order, layers, rule).Find();
}

std::vector<uint32_t> ActivationsHeld(const StepOrder& order) {
  std::vector<uint32_t> held;
  uint32_t count = 0;
  for (const PipelineStep& step : order.steps) {
    if (step.kind == StepKind::kForward) ++count;
    if (step.kind == StepKind::kBackward) --count;
    held.push_back(count);
  }
  return held;
}

}  // namespace graphkit
