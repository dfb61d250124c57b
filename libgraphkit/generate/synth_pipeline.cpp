#include <deque>

#include "libgraphkit/generate/synth_program.h"

namespace graphkit {
namespace {

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

}  // namespace

void SynthesizePipeline(SynthProgram& program) {
  while (!program.done()) PipelineStep(program).RunStep();
}

}  // namespace graphkit
