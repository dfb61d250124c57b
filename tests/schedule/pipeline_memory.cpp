#include "tests/schedule/pipeline_memory.h"

#include <deque>
#include <map>

#include "libgraphkit/alloc/plan/planner.h"
#include "libgraphkit/checked_number.h"
#include "libgraphkit/group_by.h"

namespace graphkit {
namespace {

// Where the steps of one microbatch of one chunk stand in the order.
struct StepPlaces {
  uint32_t forward = 0;
  uint32_t backward = 0;       // the number of steps: there is none
  uint32_t last_backward = 0;  // or its weight gradients, where they are delayed
};

// The first tick of each step, and the end.
std::vector<int64_t> FirstTicks(const StepOrder& order, const PipelineLayers& layers) {
  std::vector<int64_t> ticks = {0};
  for (const PipelineStep& step : order.steps) {
    ticks.push_back(ticks.back() + static_cast<int64_t>(layers.chunks[step.chunk].size()));
  }
  return ticks;
}

class BufferFinder {
 public:
  BufferFinder(const StepOrder& order, const PipelineLayers& layers, OutputRule rule)
      : order_(order), layers_(layers), rule_(rule), first_tick_(FirstTicks(order, layers)) {
    const uint32_t none = StepCount();
    places_.assign(order.chunks * size_t{order.microbatches}, {none, none, none});
    for (uint32_t i = 0; i < none; ++i) {
      const PipelineStep& step = order.steps[i];
      StepPlaces& places = PlacesOf(step);
      if (step.kind == StepKind::kForward) places.forward = i;
      if (step.kind == StepKind::kBackward) places.backward = i;
      if (step.kind != StepKind::kForward) places.last_backward = i;
    }
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

constexpr PipelineRuleInfo kRules[] = {
    {PipelineRule::kSeparate, "separate", "every graph has buffers of its own"},
    {PipelineRule::kTransformerEngine, "transformer-engine",
     "inputs and output gradients by signature, weak outputs"},
    {PipelineRule::kPlanned, "planned", "the same lifetimes, placed by the planner"},
    {PipelineRule::kReleaseAfterSend, "release-after-send",
     "and outputs given back once they are sent"},
};

void AddTo(LifetimeProblem* problem, const GraphBuffer& buffer) {
  problem->blocks.push_back({.size = RoundUp(buffer.size, kBlockGranularity)});
  problem->lifetimes.push_back(buffer.ticks);
}

// Enough for the greedy placements and some search on each component; a pipeline repeats itself, so
// what they leave is small.
constexpr uint64_t kEffort = 200'000'000;

class Placer {
 public:
  Placer(const StepOrder& order, const PipelineLayers& layers, PipelineMemory& memory)
      : order_(order), layers_(layers), memory_(memory) {
    memory.offsets.assign(memory.buffers.size(), 0);
  }

  void Separate() {
    for (uint32_t i = 0; i < memory_.buffers.size(); ++i) memory_.offsets[i] = Take(i);
  }

  // Signatures decide what is shared; the pool follows after what is static.
  void TransformerEngine() {
    std::vector<uint32_t> pooled;
    for (uint32_t i = 0; i < memory_.buffers.size(); ++i) {
      const BufferRole role = memory_.buffers[i].role;
      if (role == BufferRole::kInput) {
        TakeInput(i);
      } else if (role == BufferRole::kOutputGrad) {
        // Weight gradients that wait read theirs after the other layers' backwards.
        const uint32_t layer = order_.delays_weight_grads() ? memory_.buffers[i].layer : 0;
        const auto [at, fresh] = grads_.try_emplace({KeyOf(i), layer}, 0);
        if (fresh) at->second = Take(i);
        memory_.offsets[i] = at->second;
      } else {
        pooled.push_back(i);
      }
    }
    const Bytes first = end_;
    Plan(pooled);
    for (const uint32_t i : pooled) memory_.offsets[i] += first;
  }

  void Planned() {
    std::vector<uint32_t> all(memory_.buffers.size());
    for (uint32_t i = 0; i < all.size(); ++i) all[i] = i;
    Plan(all);
  }

  Bytes end() const { return end_; }

 private:
  using Key = std::tuple<std::string, Bytes, Bytes>;  // signature, and the sizes that go with it

  Key KeyOf(uint32_t buffer) const {
    const GraphBuffer& b = memory_.buffers[buffer];
    const PipelineLayer& layer = layers_.chunks[b.chunk][b.layer];
    return {layer.signature, layer.input, layer.output};
  }

  Bytes Take(uint32_t buffer) {
    const Bytes at = end_;
    end_ += RoundUp(memory_.buffers[buffer].size, kBlockGranularity);
    return at;
  }

  void TakeInput(uint32_t buffer) {
    GiveBackBefore(memory_.buffers[buffer].step);
    std::deque<Bytes>& free = free_[KeyOf(buffer)];
    if (free.empty()) {
      memory_.offsets[buffer] = Take(buffer);
    } else {
      memory_.offsets[buffer] = free.front();
      free.pop_front();
    }
    if (order_.forward_only()) return;  // nothing is given back without a backward
    in_use_[memory_.buffers[buffer].freed_by].push_back(buffer);
  }

  // Buffers that the steps before `step` gave back, in the order of those steps.
  void GiveBackBefore(uint32_t step) {
    while (!in_use_.empty() && in_use_.begin()->first < step) {
      for (const uint32_t buffer : in_use_.begin()->second) {
        free_[KeyOf(buffer)].push_back(memory_.offsets[buffer]);
      }
      in_use_.erase(in_use_.begin());
    }
  }

  void Plan(const std::vector<uint32_t>& buffers) {
    LifetimeProblem problem;
    for (const uint32_t i : buffers) AddTo(&problem, memory_.buffers[i]);
    PlannerOptions options;
    options.effort = kEffort;
    const graphkit::Plan plan = PlanLifetimes(problem, options);
    for (size_t i = 0; i < buffers.size(); ++i) memory_.offsets[buffers[i]] = plan.offsets[i];
    end_ += plan.peak;
  }

  const StepOrder& order_;
  const PipelineLayers& layers_;
  PipelineMemory& memory_;
  Bytes end_ = 0;
  std::map<Key, std::deque<Bytes>> free_;             // inputs given back, the oldest first
  std::map<uint32_t, std::vector<uint32_t>> in_use_;  // by the step that gives them back
  std::map<std::pair<Key, uint32_t>, Bytes> grads_;
};

void CountRoles(PipelineMemory& memory) {
  std::array<std::vector<Bytes>, kBufferRoles> places;
  for (size_t i = 0; i < memory.buffers.size(); ++i) {
    places[static_cast<size_t>(memory.buffers[i].role)].push_back(memory.offsets[i]);
  }
  for (size_t role = 0; role < kBufferRoles; ++role) {
    memory.roles[role].uses = places[role].size();
    SortUnique(&places[role]);
    memory.roles[role].buffers = places[role].size();
  }
}

void MeasureLive(const StepOrder& order, const PipelineLayers& layers, PipelineMemory& memory) {
  const std::vector<int64_t> first = FirstTicks(order, layers);
  std::vector<int64_t> change(static_cast<size_t>(first.back()) + 1);
  for (const GraphBuffer& buffer : memory.buffers) {
    const auto size = static_cast<int64_t>(RoundUp(buffer.size, kBlockGranularity));
    change[static_cast<size_t>(buffer.ticks.begin)] += size;
    change[static_cast<size_t>(buffer.ticks.end)] -= size;
  }
  int64_t live = 0;
  for (size_t step = 0; step + 1 < first.size(); ++step) {
    int64_t most = 0;
    for (int64_t tick = first[step]; tick < first[step + 1]; ++tick) {
      live += change[static_cast<size_t>(tick)];
      most = std::max(most, live);
    }
    memory.live_by_step.push_back(static_cast<Bytes>(most));
  }
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

std::span<const PipelineRuleInfo> PipelineRules() { return kRules; }

Bytes PipelineMemory::live_peak() const {
  return live_by_step.empty() ? 0 : *std::ranges::max_element(live_by_step);
}

Result<PipelineMemory> PlacePipeline(const StepOrder& order, const PipelineLayers& layers,
                                     PipelineRule rule) {
  const OutputRule outputs =
      rule == PipelineRule::kReleaseAfterSend ? OutputRule::kAfterSend : OutputRule::kAfterBackward;
  Result<std::vector<GraphBuffer>> buffers = FindBuffers(order, layers, outputs);
  if (!buffers) return buffers.error();
  PipelineMemory memory{.rule = rule, .buffers = *std::move(buffers)};
  Placer placer(order, layers, memory);
  if (rule == PipelineRule::kSeparate) {
    placer.Separate();
  } else if (rule == PipelineRule::kTransformerEngine) {
    placer.TransformerEngine();
  } else {
    placer.Planned();
  }
  memory.bytes = placer.end();
  CountRoles(memory);
  MeasureLive(order, layers, memory);
  memory.lower_bound = memory.live_peak();
  return memory;
}

std::vector<PlanViolation> FindClashes(const PipelineMemory& memory) {
  if (memory.buffers.empty()) return {};
  LifetimeProblem problem;
  for (const GraphBuffer& buffer : memory.buffers) AddTo(&problem, buffer);
  return ValidatePlan(problem, {memory.offsets, {{.peak = memory.bytes}}, memory.bytes});
}

}  // namespace graphkit
