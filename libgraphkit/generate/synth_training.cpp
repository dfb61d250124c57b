#include <array>

#include "libgraphkit/generate/synth_program.h"

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
      program_.Kernel(next_, std::array{ReadsWrites(weights)});
    }
    program_.Free(weights);
  }

  SynthProgram& program_;
  std::vector<BlockId> kept_;
  BlockId flow_;  // the last output
  bool flow_is_kept_ = false;
  uint32_t next_ = 0;
};

}  // namespace

void SynthesizeTraining(SynthProgram& program) {
  while (!program.done()) TrainingStep(program).RunStep();
}

}  // namespace graphkit
