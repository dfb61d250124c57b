// Planners of other projects, written anew from their descriptions, to be compared with in one run
// (docs/performance.md). Sizes are multiples of the alignment, so none of them has to round.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "libgraphkit/model/plan_problem.h"

namespace graphkit {

// Lifetimes in one order of time are what all peers but SOMAS know: of a capture, those in capture
// order. Blocks that conflict overlap in time; on several streams others do as well.
struct PeerProblem {
  LifetimeProblem problem;
  std::vector<std::vector<uint32_t>> overlaps;   // by block: whose lifetimes overlap with it
  std::vector<std::vector<uint32_t>> conflicts;  // by block: by the graph's order
};
std::vector<std::vector<uint32_t>> OverlapsOf(const LifetimeProblem& problem);

using Offsets = std::vector<Bytes>;
inline constexpr Bytes kNotPlaced = ~Bytes{0};

// Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference" (2020).
Offsets TfliteBySize(const PeerProblem& peer);
Offsets TfliteByBreadth(const PeerProblem& peer);
// Global decreasing size best fit, by size and by length of life; the better of the two.
Offsets XlaBestFit(const PeerProblem& peer);
// TVM's unified static memory planner.
Offsets TvmBySize(const PeerProblem& peer);
Offsets TvmByConflicts(const PeerProblem& peer);
Offsets TvmHillClimb(const PeerProblem& peer);
// idealloc: first fit by size, and the best of some rounds of boxing.
Offsets Idealloc(const PeerProblem& peer);
// MindSpore's SOMAS: goes by the graph's order; the best of its eight combinations.
Offsets Somas(const PeerProblem& peer);

// Parts that several of them share.

Bytes PeakOf(const PeerProblem& peer, const Offsets& offsets);
// Block numbers, sorted so that what `before` says comes first; equals by number.
template <typename Before>
std::vector<uint32_t> Sorted(size_t blocks, const Before& before) {
  std::vector<uint32_t> order(blocks);
  for (uint32_t i = 0; i < blocks; ++i) order[i] = i;
  std::ranges::stable_sort(order, before);
  return order;
}
struct Taken {
  Bytes begin;
  Bytes end;
};
// Where the placed ones of `others` lie, from the lowest up.
std::vector<Taken> TakenBy(const PeerProblem& peer, std::span<const uint32_t> others,
                           const Offsets& offsets);
// The smallest gap that holds `size`, the lowest of equals; above all where there is none.
Bytes BestGap(std::span<const Taken> taken, Bytes size);
// The lowest.
Bytes FirstGap(std::span<const Taken> taken, Bytes size);
// Block after block in the order of `before`, each where `gap` (BestGap, FirstGap) has it.
template <typename Before>
Offsets PlaceEach(const PeerProblem& peer, const Before& before,
                  Bytes (*gap)(std::span<const Taken> taken, Bytes size)) {
  Offsets offsets(peer.problem.blocks.size(), kNotPlaced);
  for (const uint32_t block : Sorted(offsets.size(), before))
    offsets[block] =
        gap(TakenBy(peer, peer.overlaps[block], offsets), peer.problem.blocks[block].size);
  return offsets;
}

}  // namespace graphkit
