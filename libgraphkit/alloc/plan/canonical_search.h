// Exact placement of a component within a capacity: depth-first over canonical plans.
//
// Any plan can be pushed down until every block lies on offset 0 or on top of a block that it
// conflicts with. So it is enough to place blocks from the bottom up, each at the top of what is
// placed below it. The search takes a block at the lowest offset and either places it there or
// passes it over, so no plan is met twice. A branch ends where the state says so, or where an
// unplaced block would fit entirely below the one to be placed: it would have been placed before.
//
// Where no unplaced block crosses a section boundary, both sides are searched apart.
// After Moffitt, "MiniMalloc: A Lightweight Memory Allocator for Hardware-Accelerated Machine
// Learning" (ASPLOS 2023).
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "libgraphkit/alloc/plan/conflicts.h"
#include "libgraphkit/random.h"

namespace graphkit {

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

  // Nothing is placed. What failed counts less and less: where searches fail moves as they learn.
  void Reset(Bytes capacity);

  Mark Now() const { return {support_trail_.size(), bound_trail_.size(), floor_trail_.size()}; }
  // `offset`: the block's support; no unplaced block lies lower. False: the rest can't be placed.
  bool Place(uint32_t block, Bytes offset);
  bool PassOver(uint32_t block, Bytes offset);
  void UndoPlace(uint32_t block, const Mark& mark);
  void UndoBounds(const Mark& mark);

  // True if sections [lower, upper) can hold their unplaced blocks at `offset` and above.
  bool Fits(int32_t lower, int32_t upper, Bytes offset);
  // The sections' loss to holes by placing the block since `mark`: bytes, each counted as often
  // as its section couldn't hold its blocks so far.
  double Lost(uint32_t block, Bytes offset, const Mark& mark);

  // Ascending.
  std::span<const uint32_t> SectionsOf(uint32_t block) const {
    const uint32_t begin = position_begin_[block];
    return std::span(sections_).subspan(begin, position_begin_[block + 1] - begin);
  }
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
  void MarkDirty(uint32_t block);
  // The unplaced blocks of a section, in any order.
  std::span<const uint32_t> UnplacedIn(size_t section) const {
    return std::span(section_blocks_).subspan(section_begin_[section], unplaced_in_[section]);
  }

  const LifetimeArena& component_;
  const ConflictLists& conflicts_;
  std::vector<Bytes> sizes_;  // of the blocks, together
  std::vector<uint32_t> section_blocks_;
  std::vector<uint32_t> section_slots_;  // the same: where position_ has the block's place
  std::vector<uint32_t> section_begin_;
  // Of each section's blocks the first so many are unplaced. A block that is placed swaps places
  // with the last of them; undone in reverse order, raising the number brings it back.
  std::vector<uint32_t> unplaced_in_;
  std::vector<uint32_t> sections_;  // by block
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

// The keys that rank blocks, the greater the earlier.
enum class SearchOrder : uint8_t {
  kWidthAreaLoad,
  kLoadAreaWidth,
  kLoadWidthArea,
};

enum class SearchOutcome : uint8_t { kFound, kInfeasible, kGaveUp };

inline constexpr uint32_t kMostTried = 8;

// One search of many: which order leads to a plan soon is luck, and many short searches find one
// earlier than a long one.
struct SearchAttempt {
  Bytes capacity = 0;
  SearchOrder order = SearchOrder::kWidthAreaLoad;
  uint64_t seed = 0;   // other than 0: disturbs the keys
  uint32_t tried = 1;  // of the blocks that could come next; at most kMostTried
  uint64_t max_nodes = ~uint64_t{0};
  uint64_t max_work = ~uint64_t{0};
  const std::atomic<bool>* stop = nullptr;  // becomes true: gives up
};

class CanonicalSearch {
 public:
  // The component has no fixed blocks; the lists are of its blocks. Both must outlive the search.
  CanonicalSearch(const LifetimeArena& component, const ConflictLists& conflicts);

  // Blocks of sections that earlier runs failed at come earlier.
  SearchOutcome Run(const SearchAttempt& attempt);

  // After kFound: by block of the component.
  const std::vector<Bytes>& offsets() const { return solution_; }
  uint64_t work() const { return looked_ + state_.work(); }  // of the last run: blocks looked at

 private:
  struct Candidate {
    Bytes offset;
    uint32_t rank;
    uint32_t block;
    bool operator<(const Candidate& o) const {
      return offset != o.offset ? offset < o.offset : rank < o.rank;
    }
  };
  // Sections whose unplaced blocks live wholly inside: unplaced_[begin, end).
  struct Part {
    int32_t lower = 0;
    int32_t upper = 0;
    uint32_t begin = 0;
    uint32_t end = 0;
  };
  struct Choice {
    const Candidate* candidate = nullptr;  // null: none is left
    bool sound = true;                     // false: there is no plan
  };

  void Rank(SearchOrder order, uint64_t seed);
  bool Exhausted() const;
  SearchOutcome Search(const Part& part, Bytes reached);
  SearchOutcome Descend(const Part& part, Candidate chosen);
  SearchOutcome SearchParts(const Part& whole, Bytes reached);
  std::vector<Part> SplitAtCuts(const Part& whole);
  std::vector<Candidate> Candidates(const Part& part, Bytes reached) const;
  Choice Choose(const Part& part, const std::vector<Candidate>& candidates);
  double Try(const Part& part, Candidate candidate);

  const LifetimeArena& component_;
  CanonicalState state_;
  SearchAttempt attempt_;
  Random random_{0};
  uint64_t nodes_ = 0;
  uint64_t looked_ = 0;             // blocks, while candidates were listed
  std::vector<uint32_t> rank_;      // by block
  std::vector<uint32_t> unplaced_;  // blocks, by part
  std::vector<Bytes> solution_;
};

}  // namespace graphkit
