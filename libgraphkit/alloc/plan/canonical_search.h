// Exact placement of a component within a capacity: depth-first over canonical plans.
//
// Any plan can be pushed down until every block lies on offset 0 or on top of a block that it
// conflicts with. So it is enough to place blocks from the bottom up, each at the top of what is
// placed below it, in order of (offset, rank). A branch is cut when
//   - some section can't hold the rest of its blocks above its floor (section inference),
//   - no block of a section can be its lowest; one that can't be the lowest lies above one that
//   can,
//     which raises its bound, and so on to a fixed point,
//   - an unplaced block would fit entirely below the one to be placed (it would have been placed
//   before),
//   - a block was passed over and nothing unplaced conflicts with it: it would hang in the air.
// Where no unplaced block crosses a section boundary, both sides are searched apart.
// After Moffitt, "MiniMalloc: A Lightweight Memory Allocator for Hardware-Accelerated Machine
// Learning" (ASPLOS 2023).
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "libgraphkit/alloc/plan/lifetime_arena.h"

namespace graphkit {

// Which of the blocks that could come next comes first: the keys, the greater the earlier.
enum class SearchOrder : uint8_t {
  kWidthAreaLoad,
  kLoadAreaWidth,
  kLoadWidthArea,
};

enum class SearchOutcome : uint8_t { kFound, kInfeasible, kGaveUp };

class CanonicalSearch {
 public:
  // The component must have no fixed blocks. A seed other than 0 disturbs the keys: which order
  // leads to a plan soon is luck, and many short searches find one earlier than a long one. Blocks
  // of sections that earlier searches failed at (failures(), by section; may be empty) come
  // earlier.
  CanonicalSearch(const LifetimeArena& component, SearchOrder order, uint64_t seed = 0,
                  std::span<const uint64_t> failures = {});

  // Gives up after that many nodes, or that much work, or when *stop becomes true (stop may be
  // null).
  SearchOutcome Run(Bytes capacity, uint64_t max_nodes, uint64_t max_work,
                    const std::atomic<bool>* stop = nullptr);

  // After kFound: by block of the component.
  const std::vector<Bytes>& offsets() const { return solution_; }
  uint64_t nodes() const { return nodes_; }
  uint64_t work() const { return work_; }  // blocks looked at
  // By section: how often it couldn't hold its blocks.
  const std::vector<uint64_t>& failures() const { return failures_; }

 private:
  // A block by rank.
  struct Item {
    uint32_t block = 0;  // in the component
    Bytes size = 0;
    Bytes alignment = 1;
    int32_t lower = 0;  // sections
    int32_t upper = 0;
  };
  struct Candidate {
    Bytes offset;
    uint32_t rank;
    bool operator<(const Candidate& o) const {
      return offset != o.offset ? offset < o.offset : rank < o.rank;
    }
  };
  struct Change {
    uint32_t index;
    Bytes before;
  };
  // How long the trails were.
  struct Marks {
    size_t supports;
    size_t bounds;
    size_t floors;
  };
  // A stretch of sections whose unplaced blocks lie wholly inside it.
  struct Part {
    int32_t lower = 0;
    int32_t upper = 0;
    std::vector<uint32_t> unplaced;  // ranks
  };

  Marks Now() const { return {support_trail_.size(), bound_trail_.size(), floor_trail_.size()}; }
  void BuildNeighbours();
  void BuildSections();
  void Reset();
  SearchOutcome Search(const Part& part, Candidate last);
  SearchOutcome Descend(const Part& part, Candidate chosen);
  SearchOutcome SearchParts(const Part& part, Candidate chosen);
  std::vector<Candidate> Candidates(const Part& part, Candidate last) const;
  void Place(Candidate chosen);
  void Undo(Candidate chosen, const Marks& marks);
  void UndoBounds(const Marks& marks);
  bool Propagate(Bytes reached);
  bool TightenSection(size_t section, Bytes reached);
  bool RaiseBound(uint32_t rank, Bytes bound);
  bool PassOver(Candidate passed);
  void MarkDirty(int32_t lower, int32_t upper);
  bool Fits(const Part& part, Bytes offset);
  bool HasCut(const Part& part, const Item& item) const;
  Bytes Pressure(const Part& part) const;

  std::span<const uint32_t> Neighbours(uint32_t rank) const {
    return std::span(neighbours_)
        .subspan(neighbour_begin_[rank], neighbour_begin_[rank + 1] - neighbour_begin_[rank]);
  }
  // The unplaced blocks of a section, in any order.
  std::span<const uint32_t> UnplacedIn(size_t section) const {
    return std::span(section_items_).subspan(section_begin_[section], unplaced_in_[section]);
  }
  void LeaveSections(uint32_t rank);

  std::vector<Item> items_;
  std::vector<Bytes> sizes_;  // of the items, together
  std::vector<Bytes> loads_;
  std::vector<uint32_t> neighbours_;
  std::vector<uint32_t> neighbour_begin_;
  std::vector<uint32_t> section_items_;
  std::vector<uint32_t> section_begin_;
  // Of each section's items the first so many are unplaced. A block that is placed swaps places
  // with the last of them; undone in reverse order, raising the number brings it back.
  std::vector<uint32_t> unplaced_in_;
  std::vector<uint32_t>
      position_;  // by block and section of it: its place among the section's items
  std::vector<uint32_t> position_begin_;

  Bytes capacity_ = 0;
  uint64_t max_nodes_ = 0;
  uint64_t max_work_ = 0;
  uint64_t nodes_ = 0;
  uint64_t work_ = 0;
  const std::atomic<bool>* stop_ = nullptr;
  std::vector<uint8_t> placed_;
  std::vector<Bytes> support_;      // by rank: the top of what is placed below it
  std::vector<Bytes> bound_;        // by rank: it can't lie lower; at least support_
  std::vector<Bytes> rest_;         // by section: bytes of its unplaced blocks
  std::vector<Bytes> floor_;        // by section: the lowest bound of its unplaced blocks
  std::vector<uint32_t> crossing_;  // by boundary before a section: unplaced blocks that cross it
  std::vector<Change> support_trail_;
  std::vector<Change> bound_trail_;
  std::vector<Change> floor_trail_;
  std::vector<uint8_t> dirty_;  // by section
  std::vector<uint32_t> dirty_list_;
  std::vector<Bytes> solution_;
  std::vector<uint64_t> failures_;
};

}  // namespace graphkit
