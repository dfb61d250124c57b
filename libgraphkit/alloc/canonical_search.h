// Exact placement of a component within a capacity: depth-first over canonical plans.
//
// Any plan can be pushed down until every block lies on offset 0 or on top of a block that it
// conflicts with. So it is enough to place blocks from the bottom up, each at the top of what is
// placed below it, in order of (offset, rank). A branch is cut when
//   - some section can't hold the rest of its blocks above its floor (section inference),
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

#include "libgraphkit/alloc/lifetime_arena.h"

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
  // The component must have no fixed blocks.
  CanonicalSearch(const LifetimeArena& component, SearchOrder order);

  // Gives up after that many nodes, or when *stop becomes true (stop may be null).
  SearchOutcome Run(Bytes capacity, uint64_t max_nodes, const std::atomic<bool>* stop = nullptr);

  // After kFound: by block of the component.
  const std::vector<Bytes>& offsets() const { return solution_; }
  uint64_t nodes() const { return nodes_; }

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
  // A stretch of sections whose unplaced blocks lie wholly inside it.
  struct Part {
    int32_t lower = 0;
    int32_t upper = 0;
    std::vector<uint32_t> unplaced;  // ranks
  };

  void BuildNeighbours();
  void BuildSections();
  void Reset();
  SearchOutcome Search(const Part& part, Candidate last);
  SearchOutcome Descend(const Part& part, Candidate chosen);
  SearchOutcome SearchParts(const Part& part, Candidate chosen);
  std::vector<Candidate> Candidates(const Part& part, Candidate last) const;
  void Place(Candidate chosen);
  void Undo(Candidate chosen, size_t offset_mark, size_t floor_mark);
  void RaiseFloors(int32_t lower, int32_t upper);
  bool Fits(const Part& part, Bytes offset) const;
  bool MustComeNow(Candidate chosen) const;
  bool HasCut(const Part& part, const Item& item) const;
  Bytes Pressure(const Part& part) const;

  std::span<const uint32_t> Neighbours(uint32_t rank) const {
    return std::span(neighbours_)
        .subspan(neighbour_begin_[rank], neighbour_begin_[rank + 1] - neighbour_begin_[rank]);
  }
  std::span<const uint32_t> InSection(size_t section) const {
    return std::span(section_items_)
        .subspan(section_begin_[section], section_begin_[section + 1] - section_begin_[section]);
  }

  std::vector<Item> items_;
  std::vector<Bytes> loads_;
  std::vector<uint32_t> neighbours_;
  std::vector<uint32_t> neighbour_begin_;
  std::vector<uint32_t> section_items_;
  std::vector<uint32_t> section_begin_;

  Bytes capacity_ = 0;
  uint64_t max_nodes_ = 0;
  uint64_t nodes_ = 0;
  const std::atomic<bool>* stop_ = nullptr;
  std::vector<uint8_t> placed_;
  std::vector<Bytes> offset_;       // placed: its offset; else the lowest that is left
  std::vector<Bytes> rest_;         // by section: bytes of its unplaced blocks
  std::vector<Bytes> floor_;        // by section: the lowest offset_ of its unplaced blocks
  std::vector<uint32_t> crossing_;  // by boundary before a section: unplaced blocks that cross it
  std::vector<Change> offset_trail_;
  std::vector<Change> floor_trail_;
  std::vector<Bytes> solution_;
};

}  // namespace graphkit
