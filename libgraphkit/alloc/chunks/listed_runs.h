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
#include <numeric>
#include <utility>
#include <vector>

#include "libgraphkit/alloc/chunks/pieces.h"
#include "libgraphkit/alloc/chunks/run_set.h"

namespace graphkit {

class ListedRuns {
 public:
  static constexpr uint32_t kMaxListed = 128;  // with more a run takes long to find
  static constexpr uint32_t kMore = 8;         // that may come before the number is looked at

  // The pieces and slots must outlive it. `all`: the views that there are.
  ListedRuns(std::vector<Piece>* pieces, const ViewSlots* slots, ViewMask all)
      : pieces_(pieces), slots_(slots), all_(all) {}

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

  bool In(uint32_t piece, uint32_t view) const {
    if (piece == kNone) return false;
    const Piece& p = (*pieces_)[piece];
    return ((p.views | slots_->views[p.slot]) >> view & 1) != 0;
  }
  // The piece's views or slot have changed: lists it, keeps it listed, or not any more.
  void Update(uint32_t piece) {
    const Piece& p = (*pieces_)[piece];
    const bool listed = (p.views != 0 || p.slot != ViewSlots::kNone) && p.views != all_;
    if (listed && p.listed != Piece::kNotListed) {
      Entry& entry = lists_[p.small ? 1 : 0].entries[p.listed];
      entry.views = p.views;
      entry.slot = p.slot;
    } else if (listed) {
      Insert(piece);
    } else if (p.listed != Piece::kNotListed) {
      Erase(piece);
    }
  }
  // `upper` was split off the end of `lower`, which is about to leave its views.
  void HandOver(uint32_t lower, uint32_t upper) {
    std::swap((*pieces_)[lower].listed, (*pieces_)[upper].listed);
    Reach(upper);
  }
  // A neighbour of the piece has come to be in every view, or is so no more.
  void Reach(uint32_t piece) {
    if (piece != kNone && (*pieces_)[piece].listed != Piece::kNotListed) Measure(piece);
  }

 private:
  static constexpr uint32_t kNone = Piece::kNone;
  static constexpr uint32_t kEntries = kMaxListed + kMore;

  struct Entry {
    ViewMask views = 0;  // and those of the slot
    Bytes begin = 0;     // with the neighbours that are in every view
    Bytes end = 0;
    Bytes joins = 0;  // is one run with what ends there: `begin`; nowhere in front of a segment
    uint32_t first = kNone;  // the piece at `begin`
    uint8_t slot = ViewSlots::kNone;
  };
  struct List {
    std::array<Entry, kEntries> entries;
    std::array<uint8_t, kEntries> order;  // entries by address, the spare ones behind
    uint32_t size = 0;
    List() { std::iota(order.begin(), order.end(), uint8_t{0}); }
  };

  Run FindListed(uint32_t size, const List& list, uint32_t view) const;
  void Insert(uint32_t piece);
  void Erase(uint32_t piece);
  void Measure(uint32_t piece);

  std::vector<Piece>* pieces_;
  const ViewSlots* slots_;
  ViewMask all_;
  std::array<List, 2> lists_;     // large and small
  std::array<RunSet, 2> common_;  // large and small; each a run by itself
};

}  // namespace graphkit
