#include "libgraphkit/analysis/launches/collective_steps.h"

#include <algorithm>
#include <map>
#include <utility>

namespace graphkit {

CollectiveSteps::CollectiveSteps(const RankCollectives& rank, std::span<const RankRun> runs,
                                 bool works, const CollectiveFilter& filter)
    : rank_(&rank), programs_(rank.programs.size()) {
  for (size_t i = 0; i < rank.programs.size(); ++i) {
    const RankProgram& program = rank.programs[i];
    if (!program.graph && !works) continue;
    for (const RankOperation& operation : program.operations) {
      const std::optional<Collective> key = filter(operation.what);
      if (key) programs_[i].push_back({*key, program.graph.valid(), &operation});
    }
  }
  for (const RankRun& run : runs) {
    if (!programs_[run.program].empty() && run.times > 0) runs_.push_back(run);
  }
}

// A place in a sequence.
class StepCursor {
 public:
  explicit StepCursor(const CollectiveSteps& steps) : steps_(steps) { Begin(); }

  bool done() const { return run_ == steps_.runs_.size(); }
  bool at_start() const { return step_ == 0; }
  uint32_t program() const { return steps_.runs_[run_].program; }
  uint32_t times_left() const { return left_; }
  const CollectiveStep& step() const { return steps_.programs_[program()][step_]; }
  const RankProgram* named() const { return done() ? nullptr : &steps_.rank_->programs[program()]; }

  void Next() {
    if (++step_ == steps_.programs_[program()].size()) Skip(1);
  }
  // Whole programs of this run.
  void Skip(uint32_t times) {
    step_ = 0;
    left_ -= times;
    if (left_ > 0) return;
    ++run_;
    Begin();
  }

 private:
  void Begin() { left_ = done() ? 0 : steps_.runs_[run_].times; }

  const CollectiveSteps& steps_;
  size_t run_ = 0, step_ = 0;
  uint32_t left_ = 0;
};

class StepComparison {
 public:
  StepComparison(const CollectiveSteps& a, const CollectiveSteps& b) : a_(a), b_(b) {}

  StepsCompared Compare() {
    StepCursor a(a_), b(b_);
    StepsCompared found;
    uint64_t index = 0;
    while (!a.done() && !b.done()) {
      if (a.at_start() && b.at_start() && Same(a.program(), b.program())) {
        const uint32_t times = std::min(a.times_left(), b.times_left());
        index += times * a_.programs_[a.program()].size();
        a.Skip(times);
        b.Skip(times);
        continue;
      }
      if (!a.step().SameOperation(b.step())) break;
      if (!found.size && !a.step().SameSize(b.step())) found.size = At(index, a, b);
      ++index;
      a.Next();
      b.Next();
    }
    if (!a.done() || !b.done()) found.order = At(index, a, b);
    return found;
  }

 private:
  static StepDifference At(uint64_t index, const StepCursor& a, const StepCursor& b) {
    StepDifference at{.index = index, .program_a = a.named(), .program_b = b.named()};
    if (!a.done()) at.a = a.step();
    if (!b.done()) at.b = b.step();
    return at;
  }

  bool Same(uint32_t a, uint32_t b) {
    const auto [known, is_new] = same_.try_emplace({a, b});
    if (is_new) {
      known->second = std::ranges::equal(
          a_.programs_[a], b_.programs_[b],
          [](const auto& x, const auto& y) { return x.SameOperation(y) && x.SameSize(y); });
    }
    return known->second;
  }

  const CollectiveSteps& a_;
  const CollectiveSteps& b_;
  std::map<std::pair<uint32_t, uint32_t>, bool> same_;
};

StepsCompared CompareSteps(const CollectiveSteps& a, const CollectiveSteps& b) {
  return StepComparison(a, b).Compare();
}

}  // namespace graphkit
