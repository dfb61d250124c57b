#include "tests/schedule/pipeline_memory.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <set>

#include "tests/schedule/schedule.h"

namespace graphkit {
namespace {

PipelineLayers Uniform(uint32_t chunks, uint32_t layers, Bytes size) {
  const PipelineLayer layer{.signature = "a", .input = size, .output = size};
  return {std::vector(chunks, std::vector(layers, layer))};
}

PipelineMemory Place(const StepOrder& order, const PipelineLayers& layers, PipelineRule rule) {
  Result<PipelineMemory> memory = PlacePipeline(order, layers, rule);
  REQUIRE(memory);
  return *std::move(memory);
}

uint64_t Buffers(const PipelineMemory& memory, BufferRole role) {
  return memory.roles[static_cast<size_t>(role)].buffers;
}

TEST_CASE("one signature takes as many inputs as forwards are under way: warm-up and one") {
  struct Row {
    uint32_t stages, chunks, microbatches, rank;
    uint64_t buffers, forwards;
  };
  const Row kRows[] = {{1, 1, 8, 0, 1, 8},     {4, 1, 32, 0, 4, 32},   {4, 2, 32, 0, 11, 64},
                       {4, 5, 32, 0, 23, 160}, {4, 5, 32, 3, 17, 160}, {8, 4, 64, 0, 39, 256}};
  for (const Row& row : kRows) {
    const auto order = MakeSchedule({.stages = row.stages,
                                     .rank = row.rank,
                                     .chunks = row.chunks,
                                     .microbatches = row.microbatches});
    REQUIRE(order);
    const PipelineMemory memory =
        Place(*order, Uniform(row.chunks, 1, 512), PipelineRule::kTransformerEngine);
    CHECK(memory.roles[static_cast<size_t>(BufferRole::kInput)] ==
          RoleMemory{row.forwards, row.buffers});
    CHECK(Buffers(memory, BufferRole::kOutputGrad) == 1);
  }
}

TEST_CASE("buffers of different signatures don't stand in for each other, but in a plan") {
  const StepOrder order = *ParseStepOrder("1 2 -2 -1 1 2 -2 -1");
  PipelineLayers layers = Uniform(2, 1, 4096);
  layers.chunks[1][0].signature = std::string("b");  // g++ 12 warns of a plain "b" at -O2
  const PipelineMemory keyed = Place(order, layers, PipelineRule::kTransformerEngine);
  CHECK(Buffers(keyed, BufferRole::kInput) == 2);
  CHECK(Buffers(keyed, BufferRole::kOutputGrad) == 2);
  const PipelineMemory planned = Place(order, layers, PipelineRule::kPlanned);
  CHECK(planned.bytes < keyed.bytes);
  CHECK(planned.bytes == planned.lower_bound);
}

TEST_CASE("a buffer lives from its graph to its last reader") {
  // ticks: F.0 F.1 B.1 B.0, then the next microbatch's
  const StepOrder order = *ParseStepOrder("1 -1 1 -1");
  const auto buffers = FindBuffers(order, Uniform(1, 2, 512), OutputRule::kAfterBackward);
  REQUIRE(buffers);
  const auto ticks = [&](BufferRole role, uint32_t layer) {
    for (const GraphBuffer& b : *buffers) {
      if (b.role == role && b.layer == layer && b.microbatch == 0) return b.ticks;
    }
    return Interval<int64_t>{};
  };
  CHECK(ticks(BufferRole::kInput, 0) == Interval<int64_t>{0, 4});
  CHECK(ticks(BufferRole::kInput, 1) == Interval<int64_t>{1, 3});
  CHECK(ticks(BufferRole::kOutput, 1) == Interval<int64_t>{1, 3});
  CHECK(ticks(BufferRole::kOutputGrad, 1) == Interval<int64_t>{2, 3});
  CHECK(ticks(BufferRole::kInputGrad, 1) == Interval<int64_t>{2, 4});  // the next layer reads it
  // Of the first layer: until the next backward step is over.
  CHECK(ticks(BufferRole::kInputGrad, 0) == Interval<int64_t>{3, 8});
}

TEST_CASE("weight gradients keep the input and the output's gradient until they have run") {
  const StepOrder order = *ParseStepOrder("1 1 -1 1 -1.5 -1 -1.5 -1 -1.5");
  const auto buffers = FindBuffers(order, Uniform(1, 1, 512), OutputRule::kAfterBackward);
  REQUIRE(buffers);
  for (const GraphBuffer& b : *buffers) {
    if (b.microbatch != 0) continue;
    if (b.role == BufferRole::kInput) CHECK(b.ticks == Interval<int64_t>{0, 5});
    if (b.role == BufferRole::kOutputGrad) CHECK(b.ticks == Interval<int64_t>{2, 5});
    if (b.role == BufferRole::kOutput) CHECK(b.ticks == Interval<int64_t>{0, 3});
  }
}

TEST_CASE("outputs are released after the send unless their backward reads them") {
  const StepOrder order = *ParseStepOrder("1 1 1 1 -1 -1 -1 -1");  // F-then-B
  PipelineLayers layers = Uniform(1, 1, Bytes{1} << 20);
  const PipelineMemory kept = Place(order, layers, PipelineRule::kPlanned);
  const PipelineMemory released = Place(order, layers, PipelineRule::kReleaseAfterSend);
  CHECK(kept.bytes == Bytes{10} << 20);     // 4 inputs and outputs, two gradients
  CHECK(released.bytes == Bytes{7} << 20);  // 4 inputs, the last output under way, two gradients
  layers.chunks[0][0].saves_output = true;
  CHECK(Place(order, layers, PipelineRule::kReleaseAfterSend).bytes == kept.bytes);
}

TEST_CASE("activations held rise with forwards and fall with backwards") {
  CHECK(ActivationsHeld(*ParseStepOrder("1 1 -1 1 -1 -1")) ==
        std::vector<uint32_t>{1, 2, 1, 2, 1, 0});
}

TEST_CASE("layers of another number of chunks are refused") {
  const auto memory =
      PlacePipeline(*ParseStepOrder("1 -1"), Uniform(2, 1, 1), PipelineRule::kPlanned);
  REQUIRE(!memory);
  CHECK(memory.error().message == "layers of 2 chunks for an order of 1");
}

TEST_CASE("a clash is found") {
  const StepOrder order = *ParseStepOrder("1 1 -1 -1");
  PipelineMemory memory = Place(order, Uniform(1, 1, 512), PipelineRule::kPlanned);
  REQUIRE(FindClashes(memory).empty());
  for (size_t i = 1; i < memory.buffers.size(); ++i) {
    if (memory.buffers[i].role != BufferRole::kInput) continue;
    memory.offsets[i] = memory.offsets[0];  // both microbatches' inputs in one place
    break;
  }
  CHECK(!FindClashes(memory).empty());
}

// Another telling of the rule: a walk along the order that takes and gives back input buffers.
uint64_t CountInputs(const StepOrder& order, const PipelineLayers& layers) {
  std::map<std::string, std::deque<uint32_t>> free;
  std::map<std::pair<uint32_t, uint32_t>, std::vector<std::pair<std::string, uint32_t>>> taken;
  uint32_t made = 0;
  for (const PipelineStep& step : order.steps) {
    auto& mine = taken[{step.chunk, step.microbatch}];
    const bool gives = order.delays_weight_grads() ? step.kind == StepKind::kWeightGrad
                                                   : step.kind == StepKind::kBackward;
    if (step.kind == StepKind::kForward) {
      for (const PipelineLayer& layer : layers.chunks[step.chunk]) {
        std::deque<uint32_t>& of = free[layer.signature];
        if (of.empty()) of.push_back(made++);
        mine.emplace_back(layer.signature, of.front());
        of.pop_front();
      }
    } else if (gives) {
      for (const auto& [signature, buffer] : mine) free[signature].push_back(buffer);
    }
  }
  return made;
}

TEST_CASE("random pipelines: no clash by any rule, and inputs as counted along the order") {
  std::mt19937 engine(20);
  const auto random = [&engine] { return static_cast<uint32_t>(engine()); };
  for (int round = 0; round < 200; ++round) {
    const auto pick = [&random](uint32_t most) { return 1 + random() % most; };
    const uint32_t stages = pick(4);
    const uint32_t chunks = pick(3);
    const auto order = MakeSchedule({.kind = static_cast<ScheduleKind>(random() % 3),
                                     .stages = stages,
                                     .rank = random() % stages,
                                     .chunks = chunks,
                                     .microbatches = pick(7),
                                     .group = stages + random() % 2,
                                     .delay_weight_grads = random() % 2 == 0});
    REQUIRE(order);
    PipelineLayers layers;
    for (uint32_t chunk = 0; chunk < chunks; ++chunk) {
      layers.chunks.emplace_back();
      for (uint32_t layer = pick(3); layer > 0; --layer) {
        const uint32_t shape = pick(3);
        layers.chunks.back().push_back({.signature = std::to_string(shape),
                                        .input = Bytes{shape} * 512,
                                        .output = Bytes{shape} * 1024,
                                        .saves_output = random() % 2 == 0});
      }
    }
    CAPTURE(round);
    CAPTURE(StepOrderText(*order));
    for (const PipelineRuleInfo& rule : PipelineRules()) {
      const PipelineMemory memory = Place(*order, layers, rule.rule);
      CHECK(FindClashes(memory).empty());
      CHECK(memory.bytes >= memory.lower_bound);
    }
    if (order->forward_only()) continue;
    CHECK(Buffers(Place(*order, layers, PipelineRule::kTransformerEngine), BufferRole::kInput) ==
          CountInputs(*order, layers));
  }
}

}  // namespace
}  // namespace graphkit
