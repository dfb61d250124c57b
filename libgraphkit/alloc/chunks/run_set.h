// Runs of memory by size: the smallest that is large enough, the lowest of equals. Made for being
// changed more often than asked: runs stand unsorted in bins of similar sizes (four to a doubling),
// and a bin is sorted only while many runs are in it.
//
//     sizes    16-19   20-23   24-27   28-31   32-39   …
//     bins    [18 16] [     ] [25    ] [     ] [     ]      17 fits: 18; 20 fits: 25
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "libgraphkit/alloc/chunks/sorted_chunks.h"
#include "libgraphkit/units.h"

namespace graphkit {

struct Run {
  uint32_t size = 0;             // in units of 512 bytes; not 0
  uint32_t first = 0xffffffffu;  // its first piece
  Bytes offset = 0;
  bool operator<(const Run& o) const { return size != o.size ? size < o.size : offset < o.offset; }
};

class RunSet {
 public:
  void Insert(const Run& run) {
    const uint32_t number = BinOf(run.size);
    Bin& bin = bins_[number];
    used_[number / 64] |= uint64_t{1} << (number % 64);
    if (bin.many) {
      bin.many->Insert(run);
    } else {
      bin.few.push_back(run);
      if (bin.few.size() > kMany) Sort(&bin);
    }
  }

  // The run must be there.
  void Erase(const Run& run) {
    const uint32_t number = BinOf(run.size);
    Bin& bin = bins_[number];
    if (bin.many) {
      bin.many->Erase(run);
      if (bin.many->size() <= kFew) Unsort(&bin);
    } else {
      size_t at = 0;
      while (bin.few[at].first != run.first) ++at;
      bin.few[at] = bin.few.back();
      bin.few.pop_back();
    }
    if (!bin.many && bin.few.empty()) used_[number / 64] &= ~(uint64_t{1} << (number % 64));
  }

  static constexpr uint32_t kNone = 0xffffffffu;
  // The smallest run of `size` units or more; its first piece is kNone: there is none.
  Run Find(uint32_t size) const {
    return FindBetter(size, {}, [](const Run&) { return true; });
  }
  // Of those that are accepted, if it comes before `best`; otherwise `best`, which may be none.
  template <typename Accept>
  Run FindBetter(uint32_t size, const Run& best, const Accept& accept) const {
    const uint32_t last = best.first == kNone ? kBins - 1 : BinOf(best.size);
    for (uint32_t number = NextUsed(BinOf(size)); number <= last; number = NextUsed(number + 1)) {
      const Run found = FindIn(bins_[number], size, best, accept);
      if (found.first != best.first) return found;
    }
    return best;
  }

 private:
  static constexpr uint32_t kBins = 128;
  static constexpr size_t kMany = 48;
  static constexpr size_t kFew = 16;
  struct Bin {
    std::vector<Run> few;
    std::unique_ptr<SortedChunks<Run>> many;  // in place of `few`
  };

  static uint32_t BinOf(uint32_t size) {
    const auto log = static_cast<uint32_t>(std::bit_width(size)) - 1;
    const uint32_t quarter = log >= 2 ? size >> (log - 2) & 3 : size << (2 - log) & 3;
    return 4 * log + quarter;
  }
  uint32_t NextUsed(uint32_t number) const {
    for (uint32_t word = number / 64; word < used_.size(); ++word) {
      uint64_t bits = used_[word];
      if (word == number / 64) bits &= ~uint64_t{0} << (number % 64);
      if (bits != 0) return 64 * word + static_cast<uint32_t>(std::countr_zero(bits));
    }
    return kBins;
  }
  template <typename Accept>
  static Run FindIn(const Bin& bin, uint32_t size, Run best, const Accept& accept) {
    if (bin.many) {
      for (auto at = bin.many->LowerBound({size, kNone, 0}); at != bin.many->end();
           at = bin.many->next(at)) {
        const Run& run = (*bin.many)[at];
        if (best.first != kNone && !(run < best)) return best;
        if (accept(run)) return run;
      }
      return best;
    }
    for (const Run& run : bin.few) {
      const bool smaller = best.first == kNone || run < best;
      if (run.size >= size && smaller && accept(run)) best = run;
    }
    return best;
  }
  static void Sort(Bin* bin) {
    bin->many = std::make_unique<SortedChunks<Run>>();
    for (const Run& run : bin->few) bin->many->Insert(run);
    bin->few.clear();
  }
  static void Unsort(Bin* bin) {
    for (auto at = bin->many->begin(); at != bin->many->end(); at = bin->many->next(at)) {
      bin->few.push_back((*bin->many)[at]);
    }
    bin->many.reset();
  }

  std::array<Bin, kBins> bins_;
  std::array<uint64_t, kBins / 64> used_{};
};

}  // namespace graphkit
