#include "libgraphkit/analysis/launches/collective_steps.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace graphkit {
namespace {

// A place in a sequence.
class StepCursor {
 public:
  explicit StepCursor(const CollectiveSteps& steps) : steps_(steps) { Begin(); }

  bool done() const { return run_ == steps_.runs.size(); }
  bool at_start() const { return step_ == 0; }
  uint32_t program() const { return steps_.runs[run_].program; }
  uint32_t times_left() const { return left_; }
  const CollectiveStep& step() const { return steps_.programs[program()][step_]; }
  const RankProgram* named() const { return done() ? nullptr : &steps_.rank->programs[program()]; }

  void Next() {
    if (++step_ == steps_.programs[program()].size()) Skip(1);
  }
  // The steps of one node: they begin together.
  std::span<const CollectiveStep> group() const {
    const std::span<const CollectiveStep> steps =
        std::span(steps_.programs[program()]).subspan(step_);
    const NodeId node = steps.front().operation->node;
    const auto end = std::ranges::find_if(
        steps, [&](const CollectiveStep& step) { return step.operation->node != node; });
    return {steps.begin(), end};
  }
  void NextGroup() {
    for (size_t left = group().size(); left > 0; --left) Next();
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
  void Begin() { left_ = done() ? 0 : steps_.runs[run_].times; }

  const CollectiveSteps& steps_;
  size_t run_ = 0, step_ = 0;
  uint32_t left_ = 0;
};

struct StepComparison {
  StepsCompared Compare() {
    StepCursor a(first), b(second);
    StepsCompared found;
    uint64_t index = 0;
    while (!a.done() && !b.done()) {
      if (a.at_start() && b.at_start() && Same(a.program(), b.program())) {
        const uint32_t times = std::min(a.times_left(), b.times_left());
        index += times * first.programs[a.program()].size();
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

  static StepDifference At(uint64_t index, const StepCursor& a, const StepCursor& b) {
    StepDifference at{.index = index, .program_a = a.named(), .program_b = b.named()};
    if (!a.done()) at.a = a.step();
    if (!b.done()) at.b = b.step();
    return at;
  }

  bool Same(uint32_t a, uint32_t b) {
    const auto [known, is_new] = same.try_emplace({a, b});
    if (is_new) {
      known->second = std::ranges::equal(
          first.programs[a], second.programs[b],
          [](const auto& x, const auto& y) { return x.SameOperation(y) && x.SameSize(y); });
    }
    return known->second;
  }

  const CollectiveSteps& first;
  const CollectiveSteps& second;
  std::map<std::pair<uint32_t, uint32_t>, bool> same = {};
};

constexpr size_t kMostSteps = 100'000;  // of all ranks

struct DeadlockSearch {
  std::optional<std::pair<RankWait, RankWait>> FindCircle() {
    for (size_t i = 0; i < all.size(); ++i) {
      index_of.emplace(all[i].rank, i);
      cursors.emplace_back(all[i].steps);
      pending.emplace_back();
    }
    for (size_t i = 0; i < all.size(); ++i) Post(i);
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t i = 0; i < all.size(); ++i) {
        while (!cursors[i].done() && !Blocker(i)) {
          cursors[i].NextGroup();
          Post(i);
          moved = true;
          if (++steps > kMostSteps) return std::nullopt;
        }
      }
    }
    return Circle();
  }

  struct Posted {
    const RankOperation* operation;
    uint64_t number;  // of its kind between two ranks, or of all collectives of the rank
  };
  using Way = std::tuple<bool, uint32_t, uint32_t>;  // true if they are sends; from, to

  // Where a rank stands, its operations are there for others.
  void Post(size_t i) {
    pending[i].clear();
    if (cursors[i].done()) return;
    for (const CollectiveStep& step : cursors[i].group()) {
      const RankOperation* operation = step.operation;
      if (!operation->body.empty()) continue;
      uint64_t& count = IsMessage(operation->what.kind) ? messages[WayOf(i, *operation, false)]
                                                        : collectives[all[i].rank];
      pending[i].push_back({operation, ++count});
    }
  }
  // `other`: of the operation that it is to meet.
  Way WayOf(size_t i, const RankOperation& operation, bool other) const {
    const auto peer = static_cast<uint32_t>(operation.what.peer);
    const bool sends = operation.what.kind == CollectiveKind::kSend;
    return sends ? Way(!other, all[i].rank, peer) : Way(other, peer, all[i].rank);
  }

  // The operation that a rank waits in, and the rank that it waits for.
  std::optional<std::pair<const RankOperation*, size_t>> Blocker(size_t i) const {
    for (const Posted& posted : pending[i]) {
      const RankOperation& operation = *posted.operation;
      if (IsMessage(operation.what.kind)) {
        const auto peer = index_of.find(static_cast<uint32_t>(operation.what.peer));
        if (peer == index_of.end() || peer->second == i) continue;
        const auto met = messages.find(WayOf(i, operation, true));
        if (met != messages.end() && met->second >= posted.number) continue;
        return std::pair(&operation, peer->second);
      }
      for (const auto& [rank, other] : index_of) {
        const auto met = collectives.find(rank);
        if (met == collectives.end() || met->second < posted.number) {
          return std::pair(&operation, other);
        }
      }
    }
    return std::nullopt;
  }

  // No rank moves: who waits for one that waits, and so on, comes round. A rank that is done is
  // missing something, and waits for none.
  std::optional<std::pair<RankWait, RankWait>> Circle() const {
    for (size_t start = 0; start < all.size(); ++start) {
      std::vector<bool> seen(all.size());
      size_t at = start;
      while (!cursors[at].done() && !seen[at]) {
        seen[at] = true;
        at = Blocker(at)->second;
      }
      if (cursors[at].done() || at != start) continue;
      const auto [operation, next] = *Blocker(at);
      return std::pair(RankWait{at, cursors[at].named(), operation},
                       RankWait{next, cursors[next].named(), Blocker(next)->first});
    }
    return std::nullopt;
  }

  const std::span<const WaitingRank> all;
  std::map<uint32_t, size_t> index_of = {};  // by rank
  std::vector<StepCursor> cursors = {};
  std::vector<std::vector<Posted>> pending = {};  // by rank: of its group
  std::map<Way, uint64_t> messages = {};          // that were posted
  std::map<uint32_t, uint64_t> collectives = {};  // by rank
  size_t steps = 0;
};

}  // namespace

CollectiveSteps::CollectiveSteps(const RankCollectives& of, std::span<const RankRun> all_runs,
                                 bool works, const CollectiveFilter& filter)
    : rank(&of), programs(of.programs.size()) {
  for (size_t i = 0; i < programs.size(); ++i) {
    const RankProgram& program = of.programs[i];
    if (!program.graph && !works) continue;
    for (const RankOperation& operation : program.operations) {
      const std::optional<Collective> key = filter(operation.what);
      if (key) programs[i].push_back({*key, program.graph.valid(), &operation});
    }
  }
  for (const RankRun& run : all_runs) {
    if (!programs[run.program].empty() && run.times > 0) runs.push_back(run);
  }
}

StepsCompared CompareSteps(const CollectiveSteps& a, const CollectiveSteps& b) {
  return StepComparison{a, b}.Compare();
}

std::optional<std::pair<RankWait, RankWait>> FindDeadlock(std::span<const WaitingRank> ranks) {
  return DeadlockSearch{ranks}.FindCircle();
}

}  // namespace graphkit
