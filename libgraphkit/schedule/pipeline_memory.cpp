#include "libgraphkit/schedule/pipeline_memory.h"

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <tuple>

#include "libgraphkit/alloc/plan/planner.h"

namespace graphkit {

namespace {

constexpr PipelineRuleInfo kRules[] = {
    {PipelineRule::kSeparate, "separate", "every graph has buffers of its own"},
    {PipelineRule::kTransformerEngine, "transformer-engine",
     "inputs and output gradients by signature, weak outputs"},
    {PipelineRule::kPlanned, "planned", "the same lifetimes, placed by the planner"},
    {PipelineRule::kReleaseAfterSend, "release-after-send",
     "and outputs given back once they are sent"},
};

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
    for (const uint32_t i : buffers) {
      problem.blocks.push_back({.size = RoundUp(memory_.buffers[i].size, kBlockGranularity)});
      problem.lifetimes.push_back(memory_.buffers[i].ticks);
    }
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
    std::ranges::sort(places[role]);
    const auto end = std::unique(places[role].begin(), places[role].end());
    memory.roles[role].buffers = static_cast<uint64_t>(end - places[role].begin());
  }
}

// The first tick of each step, and the end.
std::vector<int64_t> FirstTicks(const StepOrder& order, const PipelineLayers& layers) {
  std::vector<int64_t> ticks = {0};
  for (const PipelineStep& step : order.steps) {
    ticks.push_back(ticks.back() + static_cast<int64_t>(layers.chunks[step.chunk].size()));
  }
  return ticks;
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

std::vector<std::pair<uint32_t, uint32_t>> FindClashes(const PipelineMemory& memory) {
  std::vector<uint32_t> by_birth(memory.buffers.size());
  for (uint32_t i = 0; i < by_birth.size(); ++i) by_birth[i] = i;
  const auto ticks = [&memory](uint32_t i) -> const Interval<int64_t>& {
    return memory.buffers[i].ticks;
  };
  std::ranges::stable_sort(by_birth, {}, [&](uint32_t i) { return ticks(i).begin; });
  std::vector<std::pair<uint32_t, uint32_t>> clashes;
  std::multimap<Bytes, uint32_t> live;  // by offset
  for (const uint32_t i : by_birth) {
    std::erase_if(live, [&](const auto& at) { return ticks(at.second).end <= ticks(i).begin; });
    const Bytes size = RoundUp(memory.buffers[i].size, kBlockGranularity);
    for (const auto& [offset, other] : live) {
      const Bytes other_size = RoundUp(memory.buffers[other].size, kBlockGranularity);
      if (std::max(offset, memory.offsets[i]) <
          std::min(offset + other_size, memory.offsets[i] + size)) {
        clashes.emplace_back(other, i);
      }
    }
    live.emplace(memory.offsets[i], i);
  }
  return clashes;
}

}  // namespace graphkit
