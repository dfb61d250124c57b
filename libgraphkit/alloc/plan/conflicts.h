// Finds the placed blocks that conflict with a block, where blocks are ordered by a graph.
//
// By lanes (libgraphkit/analysis/memory/lanes.h) "x before y" is one comparison: x's *exit*
// from a lane is the place of the first birth there that comes after x.
//
//     lane 0   a0   a1   a2   a3        exits of x: lane 0: 2, lane 1: 1
//     lane 1      b0   b1      b2       x before a2, a3, b1, b2
//
// The placed ones among a lane's births that conflict with x are those below x's exit whose own
// exit from x's lane is above x's place: a tree of maxima over the lane finds them one after the
// other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libgraphkit/analysis/memory/lanes.h"
#include "libgraphkit/model/plan_problem.h"

namespace graphkit {

class PlacedConflicts {
 public:
  // The lanes must outlive it.
  explicit PlacedConflicts(const Lanes& lanes);

  // Forgets what was placed. To be called before the first Add.
  void Clear();
  void Add(uint32_t item);
  // Adds the placed items that conflict with `item` to `found`.
  void Find(uint32_t item, std::vector<uint32_t>* found) const;

  // The place in `lane` of the first birth that comes after the item; the lane's size: none does.
  uint32_t Exit(uint32_t item, uint32_t lane) const { return exits_[item * lanes_.lanes() + lane]; }
  uint32_t place(uint32_t item) const { return places_[item]; }

 private:
  struct Query {
    uint32_t lane;   // that is searched
    uint32_t other;  // the item's own
    uint32_t limit;  // places below it
    uint32_t above;  // exits above it
  };
  // Maxima of the exits, one for each lane, of the placed births below a node; leaves last.
  struct Tree {
    uint32_t leaves = 1;
    std::vector<uint32_t> maxima;
  };

  void FindExits();
  uint32_t FindExit(uint32_t item, uint32_t lane, uint32_t from, uint32_t hint) const;
  void Search(const Query& query, uint32_t node, uint32_t first, uint32_t width,
              std::vector<uint32_t>* found) const;

  const Lanes& lanes_;
  std::vector<uint32_t> places_;  // of each item, in its lane
  std::vector<uint32_t> exits_;   // by item and lane
  std::vector<Tree> trees_;       // by lane
};

// One past the last item in capture order that doesn't come after this one.
uint32_t EndInCaptureOrder(const Lanes& lanes, const PlacedConflicts& conflicts, uint32_t item);

// A graph's blocks as plain lifetimes that overlap where blocks conflict. There are such if of two
// blocks, what comes after one is always among what comes after the other: always on one stream,
// and mostly on several. Empty: there are none.
//
//     x before b, c, d     ends: x first, then y; a is born before both, b and c between them
//     y before d           x [0, 1)   y [0, 2)   a [0, …)   b [1, …)   c [1, …)   d [2, …)
std::vector<Lifetime> LifetimesOnOneLine(const Lanes& lanes, const PlacedConflicts& conflicts);

// One arena of a lifetime problem, in the form that the planner works on: blocks that matter, times
// as ranks, and the load, which is the lower bound.
//
// A section is a time at which the set of live blocks is as large as it gets: from a birth after
// which no other comes before the next death. Two blocks conflict if they share a section. The load
// of a section is the sum of its blocks' sizes, the largest load a lower bound for every plan.
//
//   births and deaths   b b d b d d b b d d
//   sections             0   1     2

// [lower, upper), in ranks: any numbering of times that keeps the conflicts.
struct RankLifetime {
  int32_t lower = 0;
  int32_t upper = 0;
};

struct ArenaBlock {
  uint32_t block = 0;  // in the problem
  Bytes size = 0;
  Bytes alignment = 1;
  Bytes fixed = PlanBlock::kAnywhere;
  Bytes length = 0;   // of its lifetime, in the problem's times
  RankLifetime life;  // sections [lower, upper)
};

struct LifetimeArena {
  uint32_t arena = 0;
  std::vector<ArenaBlock> blocks;  // that have bytes and a lifetime
  std::vector<Bytes> loads;        // by section
  Bytes lower_bound = 0;           // the largest load, or the top of a fixed block above it
  // By block, ascending. Empty: those of its lifetime. Else each lives from the first section to
  // the last, and not all conflicts have a section.
  std::vector<std::vector<uint32_t>> sections = {};
};

// The arenas of a problem, by number.
std::vector<LifetimeArena> SplitIntoArenas(const LifetimeProblem& problem);

// The parts of an arena that share no section: each is planned by itself, with its own loads.
std::vector<LifetimeArena> SplitIntoComponents(const LifetimeArena& arena);

// Every block's conflicts, listed: what greedy placement reads again and again.
class ConflictLists {
 public:
  // Gives up above `limit` pairs: then it isn't complete, and holds nothing.
  ConflictLists(const Lanes& lanes, const PlacedConflicts& exits, size_t limit);
  // Of lifetimes: two of them conflict if they overlap.
  ConflictLists(std::span<const RankLifetime> lifetimes, size_t limit);

  bool complete() const { return complete_; }
  std::span<const uint32_t> Of(uint32_t item) const {
    return {others_.data() + first_[item], first_[item + 1] - first_[item]};
  }

 private:
  template <typename ForEachPair>
  void Fill(const ForEachPair& for_each_pair, size_t limit);

  bool complete_ = true;
  std::vector<uint32_t> first_;  // by item, and one more
  std::vector<uint32_t> others_;
};

// Of blocks that a graph orders: for each the section with the most bytes that is found by adding
// the largest block that conflicts with all in it, again and again. The lists are complete.
void FindSections(const ConflictLists& lists, LifetimeArena* arena);

}  // namespace graphkit
