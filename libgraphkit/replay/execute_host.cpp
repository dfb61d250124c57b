#include "libgraphkit/replay/execute_host.h"

#include <algorithm>
#include <optional>

#include "libgraphkit/parallel.h"
#include "libgraphkit/replay/unlikely_order.h"

namespace graphkit {
namespace {

// Whose bytes these are, and which step wrote them.
struct Canary {
  static constexpr uint32_t kNobody = 0xffffffffu;
  uint32_t block = kNobody;
  uint32_t step = 0;
};

enum class Phase : uint8_t { kWaiting, kReady, kRunning, kEnding, kEnded, kSkipped };

// One order of one program.
class OrderRun {
 public:
  OrderRun(const Program& program, uint64_t seed)
      : program_(program), order_(seed), seed_(seed), memory_(program.canaries) {
    for (const ProgramStep& step : program.steps) {
      start_needs_.push_back(step.start_needs);
      end_needs_.push_back(step.end_needs);
    }
    for (const ProgramBlock& block : program.blocks) uses_.push_back(block.uses);
    phases_.resize(program.steps.size());
  }

  void Run() {
    for (uint32_t step = 0; step < phases_.size(); ++step) {
      if (start_needs_[step] == 0) Offer(step, Phase::kReady);
    }
    while (!fault_ && !order_.empty()) Go(order_.Choose());
    if (!fault_) CheckSurvivors();
  }

  uint64_t checks() const { return checks_; }
  uint64_t executed() const { return executed_; }
  const std::optional<ExecutionFault>& fault() const { return fault_; }

 private:
  // The step can start, or end.
  void Offer(uint32_t step, Phase phase) {
    phases_[step] = phase;
    order_.Offer(step);
  }

  void Go(uint32_t step) {
    if (phases_[step] == Phase::kReady) {
      Start(step);
    } else if (phases_[step] == Phase::kEnding) {
      End(step);
    }
  }

  void Start(uint32_t step) {
    ++executed_;
    phases_[step] = Phase::kRunning;
    ChooseBody(step);
    for (const ProgramTouch& touch : TouchesOf(step)) {
      if (Written(touch)) CheckOwn(touch, step);
      if (touch.writes) Write(touch, step);
      if (fault_) return;
    }
    Release(program_.steps[step].on_start);
    if (end_needs_[step] == 0 && phases_[step] == Phase::kRunning) Offer(step, Phase::kEnding);
  }

  void End(uint32_t step) {
    phases_[step] = Phase::kEnded;
    for (const ProgramTouch& touch : TouchesOf(step)) {
      if (touch.writes || Written(touch)) CheckOwn(touch, step);
      if (fault_) return;
    }
    for (const ProgramTouch& touch : TouchesOf(step)) --uses_[touch.block];
    Release(program_.steps[step].on_end);
  }

  // Of the bodies of a conditional one runs.
  void ChooseBody(uint32_t step) {
    const std::vector<uint32_t>& bodies = program_.steps[step].bodies;
    if (bodies.empty()) return;
    const uint32_t taken = order_.Random(bodies.size());
    for (uint32_t i = 0; i < bodies.size(); ++i) {
      if (i == taken) continue;
      for (const uint32_t skipped : program_.bodies[bodies[i]]) Skip(skipped);
    }
  }

  void Skip(uint32_t step) {
    if (phases_[step] == Phase::kSkipped) return;
    phases_[step] = Phase::kSkipped;
    for (const ProgramTouch& touch : TouchesOf(step)) --uses_[touch.block];
    Release(program_.steps[step].on_end);
    Release(program_.steps[step].on_start);
  }

  void Release(Slice waits) {
    for (uint32_t i = 0; i < waits.count; ++i) {
      const ProgramWait& wait = program_.waits[waits.first + i];
      uint32_t& needs = wait.start ? start_needs_[wait.step] : end_needs_[wait.step];
      if (--needs != 0) continue;
      if (wait.start && phases_[wait.step] == Phase::kWaiting) Offer(wait.step, Phase::kReady);
      if (!wait.start && phases_[wait.step] == Phase::kRunning) Offer(wait.step, Phase::kEnding);
    }
  }

  std::span<const ProgramTouch> TouchesOf(uint32_t step) const {
    const Slice slice = program_.steps[step].touches;
    return {program_.touches.data() + slice.first, slice.count};
  }

  bool Written(const ProgramTouch& touch) const {
    return touch.writer != ProgramTouch::kNoWriter && phases_[touch.writer] == Phase::kEnded;
  }

  std::span<Canary> CanariesOf(uint32_t block) {
    const Slice slice = program_.blocks[block].canaries;
    return {memory_.data() + slice.first, slice.count};
  }

  void CheckOwn(const ProgramTouch& touch, uint32_t step) {
    for (const Canary& canary : CanariesOf(touch.block)) {
      ++checks_;
      if (canary.block != touch.block) {
        Report({touch.block, step}, canary);
        return;
      }
    }
  }

  void Write(const ProgramTouch& touch, uint32_t step) {
    for (Canary& canary : CanariesOf(touch.block)) {
      ++checks_;
      const uint32_t before = canary.block;
      if (before != Canary::kNobody && before != touch.block && Needed(before)) {
        Report({before, NextUse(before)}, {touch.block, step});
        return;
      }
      canary = {touch.block, step};
    }
  }

  bool Needed(uint32_t block) const { return !program_.blocks[block].dies || uses_[block] > 0; }

  // A step that still has to touch the block; of a block that must survive, any.
  uint32_t NextUse(uint32_t block) const {
    uint32_t found = 0;
    for (uint32_t step = 0; step < phases_.size(); ++step) {
      for (const ProgramTouch& touch : TouchesOf(step)) {
        if (touch.block != block) continue;
        found = step;
        if (phases_[step] != Phase::kEnded && phases_[step] != Phase::kSkipped) return step;
      }
    }
    return found;
  }

  // Blocks that outlive the graph must be there at its end.
  void CheckSurvivors() {
    for (uint32_t step = 0; step < phases_.size(); ++step) {
      if (phases_[step] != Phase::kEnded) continue;
      for (const ProgramTouch& touch : TouchesOf(step)) {
        if (touch.writes && !program_.blocks[touch.block].dies) CheckOwn(touch, step);
        if (fault_) return;
      }
    }
  }

  void Report(const Canary& one, const Canary& other) {
    const bool unwritten = other.block == Canary::kNobody;
    if (unwritten) return;
    const bool first = program_.blocks[one.block].block < program_.blocks[other.block].block;
    const Canary& earlier = first ? one : other;
    const Canary& later = first ? other : one;
    fault_ = ExecutionFault{seed_,
                            {.earlier = program_.blocks[earlier.block].block,
                             .later = program_.blocks[later.block].block,
                             .last_use = program_.steps[earlier.step].node,
                             .first_use = program_.steps[later.step].node}};
  }

  const Program& program_;
  UnlikelyOrder order_;  // of starts and ends
  uint64_t seed_;
  std::vector<Canary> memory_;
  std::vector<Phase> phases_;
  std::vector<uint32_t> start_needs_;
  std::vector<uint32_t> end_needs_;
  std::vector<uint32_t> uses_;  // by block: steps that have yet to end
  uint64_t checks_ = 0;
  uint64_t executed_ = 0;
  std::optional<ExecutionFault> fault_;
};

}  // namespace

GraphExecution ExecuteOnHost(const Program& program, const ExecutionOptions& options) {
  struct Outcome {
    uint64_t checks = 0;
    uint64_t nodes = 0;
    std::optional<ExecutionFault> fault;
  };
  std::vector<Outcome> outcomes(options.orders);
  ParallelFor(outcomes.size(), options.threads == 0 ? Cores() : options.threads, [&](size_t i) {
    OrderRun run(program, options.seed + i);
    run.Run();
    outcomes[i] = {run.checks(), run.executed(), run.fault()};
  });
  GraphExecution execution;
  execution.orders = options.orders;
  execution.seed = options.seed;
  for (const Outcome& outcome : outcomes) {
    execution.checks += outcome.checks;
    execution.nodes += outcome.nodes;
    if (outcome.fault) execution.faults.push_back(*outcome.fault);
  }
  return execution;
}

}  // namespace graphkit
