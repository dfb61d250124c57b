// Lowers a plan's peak: what ends above a target is taken out and put where it ejects the least;
// what it ejects is placed again, where need be by ejecting in its turn, until nothing is left.
//
//     top   | x |                    x goes where b lay; b fits beside c; the peak is lower
//           | a || b |
//           |   c    |
//
// A block that finds no gap is dearer to eject from then on, so blocks don't eject each other in a
// circle (docs/planning.md).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "libgraphkit/alloc/plan/conflicts.h"
#include "libgraphkit/alloc/plan/greedy.h"
#include "libgraphkit/model/plan_problem.h"
#include "libgraphkit/random.h"
#include "libgraphkit/units.h"

namespace graphkit {

class GuidedEjection {
 public:
  // `blocks`: by item, whatever their arenas. The lists are complete, and outlive it. Ejecting a
  // block costs its size to the power of `exponent` at first.
  GuidedEjection(const ConflictLists& lists, std::vector<PlanBlock> blocks, double exponent,
                 uint64_t seed);

  // Moves blocks until all that aren't fixed end at `target` or below. Gives up after that many
  // looks, or when `more` says so; what has no place by then is put above the others. Returns the
  // peak.
  Bytes Lower(Bytes target, uint64_t max_looks, const std::function<bool()>& more,
              std::vector<Bytes>* offsets);

  // Lowers the peak of a plan towards `goal`: aims lower as long as that works, and less low where
  // it doesn't. True: the plan has a lower one.
  bool Step(Bytes goal, uint64_t max_looks, const std::function<bool()>& more, GreedyPlan* plan);

  uint64_t looks() const { return looks_; }  // conflicts looked at so far

 private:
  struct Range {
    Bytes begin;
    Bytes end;  // rounded up to the alignment of what is being placed
    uint32_t item;
  };
  // The cost of ejecting all that begins before a place, or all that ends up to it.
  struct Sum {
    Bytes place = 0;
    double cost = 0;
    uint32_t firm = 0;  // of them may not be ejected
  };

  void TakeOut(Bytes target, std::vector<Bytes>* offsets);
  bool PlaceNext(Bytes target, std::vector<Bytes>* offsets);
  void FindTaken(uint32_t item, Bytes target, const std::vector<Bytes>& offsets);
  bool FindGap(uint32_t item, Bytes target, Bytes* offset) const;
  void SumUp();
  bool FindCheapest(uint32_t item, Bytes target, Bytes* offset);
  void Open(uint32_t item, std::vector<Bytes>* offsets);
  Bytes Peak(const std::vector<Bytes>& offsets) const;

  const ConflictLists& lists_;
  std::vector<PlanBlock> blocks_;
  Random random_;
  uint64_t looks_ = 0;
  uint64_t attempt_ = 0;
  double share_;  // of what lies between goal and peak: where the next step aims
  std::vector<Bytes> sizes_;
  std::vector<double> bases_;    // by item: what ejecting it costs at first
  std::vector<double> costs_;    // and at present
  std::vector<uint32_t> open_;   // without a place: a heap, the largest first
  std::vector<Range> taken_;     // of the item that is being placed, by begin
  std::vector<Range> unsorted_;  // the same
  std::vector<uint32_t> buckets_;
  std::vector<Sum> begins_;  // of the taken ranges, by place
  std::vector<Sum> ends_;
};

}  // namespace graphkit
