// The heaviest set of pairwise conflicting blocks among a few: a maximum-weight antichain, found as
// a maximum flow. Weighted Dilworth: the blocks' bytes less the most bytes that can be handed from
// a block to one that it is before, each byte of a block given and taken once.
//
//     source ─weight─► x ──► first birth after x in each lane ──► next birth ──► …
//                                        └─weight─► sink
//
// The memory that can't be handed on is the antichain, which is read off the minimum cut.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libgraphkit/analysis/memory/bound/exits.h"
#include "libgraphkit/analysis/memory/bound/lanes.h"
#include "libgraphkit/analysis/memory/bound/thread_clock.h"
#include "libgraphkit/group_by.h"
#include "libgraphkit/units.h"

namespace graphkit {

// Solves one set of blocks after another, reusing its memory.
class AntichainFlow {
 public:
  // Both must outlive it.
  AntichainFlow(const Lanes& lanes, const Exits& exits);

  // Takes items (ascending), and hands bytes on greedily in capture order. Returns the bytes that
  // had to be new: no less than the antichain's weight, and what an online allocator without
  // fragmentation would need.
  // With very many lanes it gives up at the deadline: then all bytes are new, and Solve() can't be
  // asked.
  Bytes Fluid(std::span<const uint32_t> items, ThreadClock::time_point deadline);
  bool gave_up() const { return gave_up_; }

  // Hands on as much as can be, from where Fluid() left off. Returns the antichain's weight and
  // puts its items into `antichain`; gives up with 0 once it can't weigh more than `enough`.
  Bytes Solve(Bytes enough, std::vector<uint32_t>* antichain);

 private:
  struct Arc {
    uint32_t to;
    Bytes residual;
  };
  static constexpr uint32_t kSource = 0;
  static constexpr uint32_t kSink = 1;

  uint32_t Supply(uint32_t local) const { return 2 + local; }
  uint32_t Birth(uint32_t local) const { return 2 + static_cast<uint32_t>(items_.size()) + local; }
  void LayOut(std::span<const uint32_t> items);
  bool FindAllExits(ThreadClock::time_point deadline);
  void FindExits(uint32_t local);
  uint32_t SearchExit(uint32_t local, uint32_t lane) const;
  void HandOn(uint32_t birth, std::vector<uint32_t>* visible);
  void BuildArcs();
  void AddArc(uint32_t from, uint32_t to, Bytes forward, Bytes backward);
  bool FindLevels();
  Bytes Augment();

  const Lanes& lanes_;
  const Exits& exits_;
  std::vector<uint32_t> items_;  // local index → item
  Grouped births_;               // local indices, by lane
  std::vector<uint32_t> used_lanes_;
  // Exits of local x: exit_to_[exit_first_[x]…], the birth where a lane becomes free for x.
  std::vector<uint32_t> exit_first_;
  std::vector<uint32_t> exit_to_;
  std::vector<uint32_t> exit_from_;  // the x of each exit
  std::vector<Bytes> exit_flow_;
  std::vector<Bytes> given_;   // of each local x
  std::vector<Bytes> taken_;   // by each local birth
  std::vector<Bytes> passed_;  // from each birth to the next one in its lane
  Bytes total_ = 0;
  Bytes handed_ = 0;
  bool gave_up_ = false;

  std::vector<std::vector<uint32_t>> visible_;  // by lane: exits that have opened
  Grouped opens_;                               // by birth: exits

  std::vector<Arc> arcs_;  // pairs: an arc and its reverse
  Grouped out_;            // by node: arcs
  std::vector<uint32_t> level_;
  std::vector<uint32_t> next_;
  std::vector<uint32_t> queue_;
};

}  // namespace graphkit
