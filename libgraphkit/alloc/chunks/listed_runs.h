// Runs where few pieces are in some views only: these stand in a list by address that is gone
// through, those that are in every view stand by size once for all. What comes and goes costs the
// same for any number of views.
//
//     pieces      |  a  | b |  c  | d (held) |  e  |     a is in every view: not listed;
//     listed            [ b ]  [c]                [e]    b reaches over a, as every view that
//     reaches     [    b    ]                            has b has a
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "libgraphkit/alloc/chunks/pieces.h"
#include "libgraphkit/alloc/chunks/run_set.h"

namespace graphkit {

class ListedRuns {
 public:
  static constexpr uint32_t kMaxListed = 128;  // with more a run takes long to find
  static constexpr uint32_t kMore = 8;         // that may come before somebody looks at the number

  // The pieces must outlive it. `all`: the views that there are.
  ListedRuns(std::vector<Piece>* pieces, ViewMask all) : pieces_(pieces), all_(all) {}

  // Takes in what the pieces say; neighbours that are in every view must be one piece.
  void Build();
  void Clear();

  // As ViewRuns does; for up to kMaxListed + kMore listed pieces.
  Run Find(uint32_t size, bool small, uint32_t view) const;

  bool IsCommon(uint32_t piece) const {
    return piece != Piece::kNone && (*pieces_)[piece].views == all_;
  }
  void AddCommon(uint32_t piece) {
    common_[(*pieces_)[piece].small ? 1 : 0].Insert(RunOf(*pieces_, piece, piece));
  }
  void DropCommon(uint32_t piece) {
    common_[(*pieces_)[piece].small ? 1 : 0].Erase(RunOf(*pieces_, piece, piece));
  }

  // The piece's views have changed: lists it, keeps it listed, or not any more.
  void Update(uint32_t piece) {
    const Piece& p = (*pieces_)[piece];
    const bool listed = p.views != 0 && p.views != all_;
    if (listed && p.slot != kNone) {
      lists_[p.small ? 1 : 0].entries[p.slot].views = p.views;
    } else if (listed) {
      Insert(piece);
    } else if (p.slot != kNone) {
      Erase(piece);
    }
  }
  // A neighbour of the piece has come to be in every view, or is so no more.
  void Reach(uint32_t piece) {
    if (piece != kNone && (*pieces_)[piece].slot != kNone) Measure(piece);
  }

 private:
  static constexpr uint32_t kNone = Piece::kNone;
  static constexpr uint32_t kSlots = kMaxListed + kMore;

  struct Entry {
    ViewMask views = 0;
    Bytes begin = 0;  // with the neighbours that are in every view
    Bytes end = 0;
    Bytes joins = 0;         // is one run with what ends there: `begin`; nowhere in front of a segment
    uint32_t first = kNone;  // the piece at `begin`
  };
  struct List {
    std::array<Entry, kSlots> entries;  // by slot
    std::array<uint8_t, kSlots> slots;  // by address, the spare ones behind
    uint32_t size = 0;
    List() {
      for (uint32_t i = 0; i < kSlots; ++i) slots[i] = static_cast<uint8_t>(i);
    }
  };

  void Insert(uint32_t piece);
  void Erase(uint32_t piece);
  void Measure(uint32_t piece);

  std::vector<Piece>* pieces_;
  ViewMask all_;
  std::array<List, 2> lists_;     // large and small
  std::array<RunSet, 2> common_;  // large and small; each a run by itself
};

}  // namespace graphkit
