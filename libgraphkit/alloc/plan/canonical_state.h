// The state of exact search while some blocks of a component are placed: how low each other block
// can lie at least, and whether each section can hold what remains of its blocks.
//
//   - A section can't hold the rest of its blocks above its floor (section inference): no plan.
//   - Only a block that leaves room for the rest of its section above it can be the lowest there.
//     One that can't lies above the top of one that can, which raises its bound. This is applied
//     until nothing changes.
//   - A block that was passed over lies above an unplaced one that it conflicts with: otherwise it
//     would hang in the air.
// Changes are kept on trails, and undone in reverse order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libgraphkit/alloc/plan/conflicts.h"
#include "libgraphkit/alloc/plan/lifetime_arena.h"

namespace graphkit {

class CanonicalState {
 public:
  // How long the trails were.
  struct Mark {
    size_t supports;
    size_t bounds;
    size_t floors;
  };

  // The component has no fixed blocks. Both must outlive it.
  CanonicalState(const LifetimeArena& component, const ConflictLists& conflicts);

  // Nothing is placed. What failed before counts less and less: where searches fail moves as they
  // learn.
  void Reset(Bytes capacity);

  Mark Now() const { return {support_trail_.size(), bound_trail_.size(), floor_trail_.size()}; }
  // `offset`: the block's support; no unplaced block will lie lower. False: what remains can't be
  // placed.
  bool Place(uint32_t block, Bytes offset);
  bool PassOver(uint32_t block, Bytes offset);
  void UndoPlace(uint32_t block, const Mark& mark);
  void UndoBounds(const Mark& mark);

  // True if sections [lower, upper) can hold their unplaced blocks at `offset` and above.
  bool Fits(int32_t lower, int32_t upper, Bytes offset);
  // The sections' loss to holes by placing the block since `mark`: bytes, each counted as often
  // as its section couldn't hold its blocks so far.
  double Lost(uint32_t block, Bytes offset, const Mark& mark);

  Bytes support(uint32_t block) const { return support_[block]; }  // top of what lies below it
  Bytes bound(uint32_t block) const { return bound_[block]; }      // it can't lie lower
  // True if no unplaced block crosses the boundary before a section.
  bool CutBefore(int32_t section) const { return crossing_[static_cast<size_t>(section)] == 0; }
  // The most that a section's floor and unplaced blocks come to.
  Bytes Pressure(int32_t lower, int32_t upper) const;

  uint64_t work() const { return work_; }  // blocks looked at
  // By section: how often it couldn't hold its blocks before the last reset.
  const std::vector<uint64_t>& failures() const { return old_failures_; }

 private:
  struct Change {
    uint32_t index;
    Bytes before;
  };

  void BuildSections();
  void LeaveSections(uint32_t block);
  bool Propagate(Bytes reached);
  bool TightenSection(size_t section, Bytes reached);
  bool RaiseBound(uint32_t block, Bytes bound);
  void MarkDirty(RankLifetime life);
  // The unplaced blocks of a section, in any order.
  std::span<const uint32_t> UnplacedIn(size_t section) const {
    return std::span(section_blocks_).subspan(section_begin_[section], unplaced_in_[section]);
  }

  const LifetimeArena& component_;
  const ConflictLists& conflicts_;
  std::vector<Bytes> sizes_;  // of the blocks, together
  std::vector<uint32_t> section_blocks_;
  std::vector<uint32_t> section_begin_;
  // Of each section's blocks the first so many are unplaced. A block that is placed swaps places
  // with the last of them; undone in reverse order, raising the number brings it back.
  std::vector<uint32_t> unplaced_in_;
  std::vector<uint32_t> position_;  // by block and section of it: its place among the section's
  std::vector<uint32_t> position_begin_;

  Bytes capacity_ = 0;
  uint64_t work_ = 0;
  std::vector<uint8_t> placed_;
  std::vector<Bytes> support_;
  std::vector<Bytes> bound_;        // at least support_
  std::vector<Bytes> rest_;         // by section: bytes of its unplaced blocks
  std::vector<Bytes> floor_;        // by section: the lowest bound of its unplaced blocks
  std::vector<uint32_t> crossing_;  // by boundary before a section: unplaced blocks that cross it
  std::vector<Change> support_trail_;
  std::vector<Change> bound_trail_;
  std::vector<Change> floor_trail_;
  std::vector<uint8_t> dirty_;  // by section
  std::vector<uint32_t> dirty_list_;
  std::vector<uint64_t> seen_;  // by section: the last look ahead that came upon it
  uint64_t look_ = 0;
  std::vector<uint64_t> failures_;      // by section, since the last reset
  std::vector<uint64_t> old_failures_;  // and before
};

}  // namespace graphkit
