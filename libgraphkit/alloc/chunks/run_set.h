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
    if (!Has(made_, number)) {
      bins_.emplace(bins_.begin() + static_cast<ptrdiff_t>(PlaceOf(number)));
      Flip(&made_, number);
    }
    Bin& bin = bins_[PlaceOf(number)];
    if (!Has(used_, number)) Flip(&used_, number);
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
    Bin& bin = bins_[PlaceOf(number)];
    if (bin.many) {
      bin.many->Erase(run);
      if (bin.many->size() <= kFew) Unsort(&bin);
    } else {
      size_t at = 0;
      while (bin.few[at].first != run.first) ++at;
      bin.few[at] = bin.few.back();
      bin.few.pop_back();
    }
    if (!bin.many && bin.few.empty()) Flip(&used_, number);
  }

  static constexpr uint32_t kNone = 0xffffffffu;
  // The smallest run of `size` units or more; its first piece is kNone: there is none.
  Run Find(uint32_t size) const {
    for (uint32_t number = NextUsed(BinOf(size)); number < kBins; number = NextUsed(number + 1)) {
      const Run found = FindIn(bins_[PlaceOf(number)], size);
      if (found.first != kNone) return found;
    }
    return {};
  }

 private:
  static constexpr uint32_t kBins = 128;
  static constexpr size_t kMany = 48;
  static constexpr size_t kFew = 16;
  struct Bin {
    std::vector<Run> few;
    std::unique_ptr<SortedChunks<Run>> many;  // in place of `few`
  };

  using Bins = std::array<uint64_t, kBins / 64>;  // a bit for each

  static bool Has(const Bins& bins, uint32_t number) {
    return (bins[number / 64] >> (number % 64) & 1) != 0;
  }
  static void Flip(Bins* bins, uint32_t number) {
    (*bins)[number / 64] ^= uint64_t{1} << (number % 64);
  }
  // Those made below it come before.
  size_t PlaceOf(uint32_t number) const {
    const uint64_t below = made_[number / 64] & ((uint64_t{1} << (number % 64)) - 1);
    const int words = number < 64 ? 0 : std::popcount(made_[0]);
    return static_cast<size_t>(words + std::popcount(below));
  }
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
  static Run FindIn(const Bin& bin, uint32_t size) {
    if (bin.many) {
      const auto at = bin.many->LowerBound({size, kNone, 0});
      return at == bin.many->end() ? Run{} : (*bin.many)[at];
    }
    Run best;
    for (const Run& run : bin.few) {
      if (run.size >= size && (best.first == kNone || run < best)) best = run;
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

  std::vector<Bin> bins_;  // that were ever used
  Bins made_{};
  Bins used_{};
};

}  // namespace graphkit
