#include "libgraphkit/analysis/launches/collective_waits.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace graphkit {
namespace {

constexpr size_t kMostSteps = 100'000;  // of all ranks

// Goes through a rank's groups of operations.
class RankCursor {
 public:
  explicit RankCursor(const WaitingRank& rank) : rank_(rank) { Settle(); }

  bool done() const { return run_ == rank_.runs.size(); }
  const RankProgram& program() const {
    return rank_.collectives->programs[rank_.runs[run_].program];
  }
  // Those of the communicator in the group, which is left behind by Next.
  std::vector<const RankOperation*> Group() const {
    std::vector<const RankOperation*> group;
    for (size_t i = at_; i < EndOfGroup(); ++i) {
      const RankOperation& operation = program().operations[i];
      const bool own = operation.what.communicator == rank_.communicator;
      if (own && operation.body.empty()) group.push_back(&operation);
    }
    return group;
  }
  void Next() {
    at_ = EndOfGroup();
    Settle();
  }

 private:
  size_t EndOfGroup() const {
    const std::vector<RankOperation>& operations = program().operations;
    size_t end = at_;
    while (end < operations.size() && operations[end].node == operations[at_].node) ++end;
    return end;
  }
  void Settle() {
    while (!done() && at_ == program().operations.size()) {
      at_ = 0;
      if (++times_ == rank_.runs[run_].times) ++run_, times_ = 0;
    }
  }

  const WaitingRank& rank_;
  size_t run_ = 0, at_ = 0;
  uint32_t times_ = 0;
};

class DeadlockSearch {
 public:
  explicit DeadlockSearch(std::span<const WaitingRank> ranks) : ranks_(ranks) {
    for (size_t i = 0; i < ranks.size(); ++i) {
      at_.emplace(ranks[i].rank, i);
      cursors_.emplace_back(ranks[i]);
      pending_.emplace_back();
    }
    for (size_t i = 0; i < ranks.size(); ++i) Post(i);
  }

  std::optional<std::pair<RankWait, RankWait>> FindCircle() {
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t i = 0; i < ranks_.size(); ++i) {
        while (!cursors_[i].done() && !Blocker(i)) {
          cursors_[i].Next();
          Post(i);
          moved = true;
          if (++steps_ > kMostSteps) return std::nullopt;
        }
      }
    }
    return Circle();
  }

 private:
  struct Posted {
    const RankOperation* operation;
    uint64_t number;  // of its kind between two ranks, or of all collectives of the rank
  };
  using Way = std::tuple<bool, uint32_t, uint32_t>;  // true if they are sends; from, to

  // Where a rank stands, its operations are there for others.
  void Post(size_t i) {
    pending_[i].clear();
    if (cursors_[i].done()) return;
    for (const RankOperation* operation : cursors_[i].Group()) {
      uint64_t& count = IsMessage(operation->what.kind) ? messages_[WayOf(i, *operation, false)]
                                                        : collectives_[ranks_[i].rank];
      pending_[i].push_back({operation, ++count});
    }
  }
  // `other`: of the operation that it is to meet.
  Way WayOf(size_t i, const RankOperation& operation, bool other) const {
    const auto peer = static_cast<uint32_t>(operation.what.peer);
    const bool sends = operation.what.kind == CollectiveKind::kSend;
    return sends ? Way(!other, ranks_[i].rank, peer) : Way(other, peer, ranks_[i].rank);
  }

  // The operation that a rank waits in, and the rank that it waits for.
  std::optional<std::pair<const RankOperation*, size_t>> Blocker(size_t i) const {
    for (const Posted& posted : pending_[i]) {
      const RankOperation& operation = *posted.operation;
      if (IsMessage(operation.what.kind)) {
        const auto peer = at_.find(static_cast<uint32_t>(operation.what.peer));
        if (peer == at_.end() || peer->second == i) continue;
        const auto met = messages_.find(WayOf(i, operation, true));
        if (met != messages_.end() && met->second >= posted.number) continue;
        return std::pair(&operation, peer->second);
      }
      for (const auto& [rank, other] : at_) {
        const auto met = collectives_.find(rank);
        if (met == collectives_.end() || met->second < posted.number) {
          return std::pair(&operation, other);
        }
      }
    }
    return std::nullopt;
  }

  // No rank moves: who waits for one that waits, and so on, comes round. A rank that is done is
  // missing something, and waits for none.
  std::optional<std::pair<RankWait, RankWait>> Circle() const {
    for (size_t start = 0; start < ranks_.size(); ++start) {
      std::vector<bool> seen(ranks_.size());
      size_t at = start;
      while (!cursors_[at].done() && !seen[at]) {
        seen[at] = true;
        at = Blocker(at)->second;
      }
      if (cursors_[at].done() || at != start) continue;
      const auto [operation, next] = *Blocker(at);
      return std::pair(RankWait{at, &cursors_[at].program(), operation},
                       RankWait{next, &cursors_[next].program(), Blocker(next)->first});
    }
    return std::nullopt;
  }

  std::span<const WaitingRank> ranks_;
  std::map<uint32_t, size_t> at_;  // by rank
  std::vector<RankCursor> cursors_;
  std::vector<std::vector<Posted>> pending_;  // by rank: of its group
  std::map<Way, uint64_t> messages_;          // that were posted
  std::map<uint32_t, uint64_t> collectives_;  // by rank
  size_t steps_ = 0;
};

}  // namespace

std::optional<std::pair<RankWait, RankWait>> FindDeadlock(std::span<const WaitingRank> ranks) {
  return DeadlockSearch(ranks).FindCircle();
}

}  // namespace graphkit
