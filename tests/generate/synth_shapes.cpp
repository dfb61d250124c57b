// The shapes of synthetic traces that are programs: training, a pipeline, forked streams.

#include <array>
#include <deque>

#include "tests/generate/synth_program.h"

namespace graphkit {
namespace {

constexpr uint32_t kLayers = 24;
constexpr uint32_t kForwardKernels = 4;  // a layer; every second output is kept for the backward

// One forward and backward pass. The compute stream is stream 0; weight gradients are reduced on
// the other streams in turn.
class TrainingStep {
 public:
  explicit TrainingStep(SynthProgram& program) : program_(program) {}

  void RunStep() {
    for (uint32_t layer = 0; layer < kLayers; ++layer) Forward();
    while (!kept_.empty()) Backward();
    if (flow_) program_.Free(flow_);
    for (uint32_t i = 1; i < program_.stream_count(); ++i) program_.Wait(0, i);
  }

 private:
  void Forward() {
    for (uint32_t i = 0; i < kForwardKernels && !program_.done(); ++i) {
      const BlockId output = program_.Produce(0, {flow_});
      if (flow_ && !flow_is_kept_) program_.Free(flow_);
      flow_ = output;
      flow_is_kept_ = i % 2 == 1;
      if (flow_is_kept_) kept_.push_back(output);
    }
  }

  // The gradient of the last kept output, and of the weights beside it.
  void Backward() {
    const BlockId activation = kept_.back();
    kept_.pop_back();
    if (program_.done()) return FreeUnlessFlow(activation);
    const BlockId gradient = program_.Produce(0, {flow_, activation});
    ReduceWeights(activation);
    FreeUnlessFlow(activation);
    if (flow_) program_.Free(flow_);
    flow_ = gradient;
  }

  void FreeUnlessFlow(BlockId block) {
    if (block != flow_) program_.Free(block);
  }

  void ReduceWeights(BlockId activation) {
    if (program_.done()) return;
    const BlockId weights = program_.Produce(0, {activation});
    if (program_.stream_count() > 1 && !program_.done()) {
      next_ = next_ % (program_.stream_count() - 1) + 1;
      program_.Wait(next_, 0);
      program_.Use(weights, next_);
      program_.Kernel(next_, std::array{Access{weights, AccessMode::kReadWrite}});
    }
    program_.Free(weights);
  }

  SynthProgram& program_;
  std::vector<BlockId> kept_;
  BlockId flow_;  // the last output
  bool flow_is_kept_ = false;
  uint32_t next_ = 0;
};

constexpr uint32_t kMicrobatches = 16;  // a step, for each stage

// One step of a 1F1B pipeline: stage s is stream s. It runs the forward pass of (stages - s)
// microbatches, then one backward and one forward in turn, then the remaining backward passes.
//
//     stage 0:  F0 F1 .. B0 F2 B1 ..       F: reads what the stage before sent, keeps an activation
//     stage 1:     F0 B0 F1 B1 ..          B: reads both the activation and what the next one sent
class PipelineStep {
 public:
  explicit PipelineStep(SynthProgram& program)
      : program_(program), stages_(program.stream_count()) {}

  void RunStep() {
    while (Advance()) {
    }
    for (Stage& stage : stages_) {
      for (auto* queue : {&stage.kept, &stage.forward_inbox, &stage.backward_inbox}) {
        for (const BlockId block : *queue) program_.Free(block);
      }
    }
  }

 private:
  struct Stage {
    uint32_t forwards = 0;
    uint32_t backwards = 0;
    std::deque<BlockId> kept;            // activations, oldest first
    std::deque<BlockId> forward_inbox;   // from the stage before
    std::deque<BlockId> backward_inbox;  // from the stage after
  };

  uint32_t count() const { return static_cast<uint32_t>(stages_.size()); }

  // Lets each stage do the next thing that it can do; false: nothing was left to do.
  bool Advance() {
    bool advanced = false;
    for (uint32_t s = 0; s < count() && !program_.done(); ++s) {
      Stage& stage = stages_[s];
      const uint32_t in_flight = stage.forwards - stage.backwards;
      const bool warm = in_flight >= count() - s || stage.forwards == kMicrobatches;
      const bool last = s + 1 == count();
      if (warm && in_flight > 0 && (last || !stage.backward_inbox.empty())) {
        Backward(s);
      } else if (!warm && (s == 0 || !stage.forward_inbox.empty())) {
        Forward(s);
      } else {
        continue;
      }
      advanced = true;
    }
    return advanced;
  }

  // Takes a block that another stage sent: it was made on that stage's stream.
  BlockId Receive(uint32_t s, std::deque<BlockId>& inbox) {
    if (inbox.empty()) return {};
    const BlockId block = inbox.front();
    inbox.pop_front();
    program_.Wait(s, program_.StreamOf(block));
    program_.Use(block, s);
    return block;
  }

  void Forward(uint32_t s) {
    Stage& stage = stages_[s];
    const BlockId input = Receive(s, stage.forward_inbox);
    stage.kept.push_back(program_.Produce(s, {input}));
    if (input) program_.Free(input);
    ++stage.forwards;
    if (s + 1 == count() || program_.done()) return;
    stages_[s + 1].forward_inbox.push_back(program_.Produce(s, {stage.kept.back()}));
  }

  void Backward(uint32_t s) {
    Stage& stage = stages_[s];
    const BlockId gradient = Receive(s, stage.backward_inbox);
    const BlockId activation = stage.kept.front();
    stage.kept.pop_front();
    const BlockId output = program_.Produce(s, {activation, gradient});
    program_.Free(activation);
    if (gradient) program_.Free(gradient);
    ++stage.backwards;
    if (s > 0) stages_[s - 1].backward_inbox.push_back(output);
    if (s == 0) program_.Free(output);
  }

  SynthProgram& program_;
  std::vector<Stage> stages_;
};

void RunBranch(SynthProgram& program, uint32_t stream) {
  const BlockId first = program.Produce(stream, {});
  const BlockId second = program.Produce(stream, {first});
  program.Free(first);
  program.Free(second);
}

}  // namespace

void SynthesizeTraining(SynthProgram& program) {
  while (!program.done()) TrainingStep(program).RunStep();
}

void SynthesizePipeline(SynthProgram& program) {
  while (!program.done()) PipelineStep(program).RunStep();
}

void SynthesizeForkJoin(SynthProgram& program) {
  const uint32_t streams = program.stream_count();
  while (!program.done()) {
    program.Kernel(0, {});
    for (uint32_t i = 1; i < streams; ++i) program.Wait(i, 0);
    for (uint32_t i = 1; i < streams && !program.done(); ++i) RunBranch(program, i);
    for (uint32_t i = 1; i < streams; ++i) program.Wait(0, i);
  }
  program.Kernel(0, {});
}

void SynthesizeOneByOne(SynthProgram& program) {
  for (uint32_t next = 0; !program.done(); ++next) {
    const uint32_t stream =
        program.stream_count() == 1 ? 0 : 1 + next % (program.stream_count() - 1);
    program.Kernel(0, {});
    program.Wait(stream, 0);
    RunBranch(program, stream);
    program.Wait(0, stream);
  }
  program.Kernel(0, {});
}

void SynthesizeRelay(SynthProgram& program) {
  for (uint32_t next = 0; !program.done(); ++next) {
    const uint32_t stream = next % program.stream_count();
    if (next > 0) program.Wait(stream, (next - 1) % program.stream_count());
    RunBranch(program, stream);
  }
}

}  // namespace graphkit
