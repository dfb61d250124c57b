// Uses of the same bytes by launches, and work outside of graphs, that nothing orders.
//
//     stream a:  launch 0 writes [0, 8) ── launch 2 writes [0, 4)
//     stream b:              launch 1 reads [2, 6)                   pairs: 0 and 1, 1 and 2
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/interval_map.h"

namespace graphkit {

// Bytes that a user touches: apart from the others of equal `strength`. Two uses are compared in
// each of its parts; one of more strength is found in place of others before it.
struct UsedBytes {
  Interval<Address> bytes;
  std::array<uint8_t, 2> strength = {};
  Interval<Seq> during = {0, kNever};  // what is submitted there does it
};

// What touches memory: all launches of a graph, which wait for each other if one exec makes them,
// or one piece of work.
struct UserOfBytes {
  GraphId graph = {};
  uint32_t work = kNoUse;  // in Trace::works
  std::vector<UsedBytes> used = {};
};

struct UseOfBytes {
  Submission at;
  uint32_t user = 0;
  uint32_t used = 0;  // of the user's
  bool operator==(const UseOfBytes&) const = default;
};

// By graph: launches of it may run at once, as several execs make them.
inline std::vector<bool> BySeveralExecs(const Facts& facts) {
  std::vector<bool> several;
  for (const std::vector<uint32_t>& launches : facts.launches()) {
    const auto exec = [&](uint32_t launch) { return facts.trace.launches[launch].exec; };
    several.push_back(std::ranges::any_of(
        launches, [&](uint32_t launch) { return exec(launch) != exec(launches[0]); }));
  }
  return several;
}

// Goes through what was submitted, and keeps for each byte the last uses: those that a later one of
// no less strength comes after are done with, as what comes after that one comes after them, too.
// So each use is compared with those that may still run, not with all. Calls visit(earlier, later)
// for each pair that isn't ordered.
template <typename Visit>
class UseSweep {
 public:
  UseSweep(const Facts& facts, std::span<const UserOfBytes> users, Visit visit)
      : facts_(facts), users_(users), visit_(std::move(visit)) {}

  // Visits the pairs.
  void Run() {
    for (uint32_t user = 0; user < users_.size(); ++user) {
      if (const uint32_t work = users_[user].work; work != kNoUse) {
        Submit(facts_.trace.works[work], {work, true}, user);
      } else {
        for (const uint32_t launch : facts_.launches()[users_[user].graph.index()])
          Submit(facts_.trace.launches[launch], {launch}, user);
      }
    }
    std::ranges::sort(submitted_, {}, &Submitted::seq);
    for (const Submitted& submitted : submitted_) {
      for (uint32_t i = 0; i < users_[submitted.user].used.size(); ++i) {
        const UsedBytes& used = users_[submitted.user].used[i];
        if (used.during.contains(submitted.seq))
          Enter({submitted.at, submitted.user, i}, used.bytes);
      }
    }
  }

 private:
  struct Submitted {
    Seq seq;
    Submission at;
    uint32_t user;
  };
  static constexpr size_t kMostAtOnce = 32;  // with more, each has been found beside others

  void Submit(const auto& row, Submission at, uint32_t user) {
    if (row.stream.valid()) submitted_.push_back({row.seq, at, user});
  }

  bool Covers(const UseOfBytes& use, const UseOfBytes& other) const {
    const auto &own = StrengthOf(use), &others = StrengthOf(other);
    return own[0] >= others[0] && own[1] >= others[1];
  }
  const std::array<uint8_t, 2>& StrengthOf(const UseOfBytes& use) const {
    return users_[use.user].used[use.used].strength;
  }

  // An earlier launch of the same exec is over; its uses are entered again.
  void Enter(const UseOfBytes& use, const Interval<Address>& range) {
    const auto pieces = last_.Remove(range);
    last_.Add(range, {use});
    for (const auto& [bytes, earlier] : pieces) {
      std::vector<UseOfBytes> still;
      for (const UseOfBytes& other : earlier) {
        const bool before = other.at == use.at || facts_.launch_order().Before(other.at, use.at);
        if (before && other.user == use.user && other.at != use.at) continue;
        // A finding of a launch says more than one of work, which so can't stand for it.
        const bool stands_for = other.at.work || !use.at.work;
        if (before && stands_for && Covers(use, other)) continue;
        if (!before) visit_(other, use);
        still.push_back(other);
      }
      if (still.empty()) continue;
      if (still.size() == kMostAtOnce) still.erase(still.begin());
      still.push_back(use);
      last_.Add(Common(bytes, range), still);
    }
  }

  const Facts& facts_;
  std::span<const UserOfBytes> users_;
  Visit visit_;
  std::vector<Submitted> submitted_;
  IntervalMap<std::vector<UseOfBytes>> last_;
};

}  // namespace graphkit
