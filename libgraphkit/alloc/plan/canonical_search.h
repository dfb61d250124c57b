// Exact placement of a component within a capacity: depth-first over canonical plans.
//
// Any plan can be pushed down until every block lies on offset 0 or on top of a block that it
// conflicts with. So it is enough to place blocks from the bottom up, each at the top of what is
// placed below it. The search takes a block at the lowest offset and either places it there or
// passes it over, so no plan is met twice. A branch ends where the state says so
// (canonical_state.h), or where an unplaced block would fit entirely below the one to be placed: it
// would have been placed before.
//
// The next block is the first by rank; or the first few are placed for a try. One that leaves
// no plan is passed over; of the others the one that loses the fewest bytes to holes comes first. A
// hole counts as often as its section couldn't hold its blocks so far: where searches fail, they
// become careful.
//
// Where no unplaced block crosses a section boundary, both sides are searched apart.
// After Moffitt, "MiniMalloc: A Lightweight Memory Allocator for Hardware-Accelerated Machine
// Learning" (ASPLOS 2023).
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "libgraphkit/alloc/plan/canonical_state.h"
#include "libgraphkit/random.h"

namespace graphkit {

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
  uint64_t nodes() const { return nodes_; }                  // of the last run
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
