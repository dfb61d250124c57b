// Where blocks lie, and who may take what is free: memory that is handed on by a rule that
// says, once for each stream, when a block's memory may go to that stream's mallocs. The same
// places as PieceMap finds, without looking at every piece.
//
// Views, and runs in them, are those of pieces.h. A piece of memory is in a view from Show on until
// it is taken; while it is in a slot (view_slots.h), in the slot's views as well. A request takes
// the smallest run of its view that holds it, the lowest of equals. Pieces that are in every view
// that they will ever be in become one piece with such a neighbour.
//
// Runs are found in a list while few pieces are in some views only, and by view otherwise; both
// find the same.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "libgraphkit/alloc/chunks/listed_runs.h"
#include "libgraphkit/alloc/chunks/pieces.h"
#include "libgraphkit/alloc/chunks/sorted_chunks.h"
#include "libgraphkit/alloc/chunks/view_runs.h"
#include "libgraphkit/alloc/models/caching_config.h"
#include "libgraphkit/ids.h"
#include "libgraphkit/units.h"

namespace graphkit {

class IndexedMap {
 public:
  static constexpr uint32_t kMaxViews = 64;

  struct Options {
    // With it segments by the rules of the caching allocator; otherwise one stretch of memory that
    // grows at its top.
    std::optional<CachingConfig> config;
    uint32_t views = 1;                // at most kMaxViews
    bool shared = false;               // a piece may be in any number of views; otherwise in one
    bool by_address = false;           // PlaceAt is used: keeps pieces by address as well
    const ViewSlots* slots = nullptr;  // for PutInSlot; must outlive the map
    // With so many pieces in some views only, runs are found by view.
    uint32_t max_listed = ListedRuns::kMaxListed;
  };
  // `blocks`: ids are below it.
  IndexedMap(const Options& options, size_t blocks);

  // One more id.
  void AddBlock() { piece_of_.push_back(kNone); }

  // `size`: rounded up to 512, not 0. Segments lie one after the other, at multiples of 2 MiB.
  Bytes Place(BlockId block, Bytes size, uint32_t view);
  // Without segments: where the caller says. The block that lay there is let go.
  void PlaceAt(BlockId block, Bytes offset, Bytes size);
  // What is left of the block's memory may be taken by the view from here on.
  void Show(BlockId block, uint32_t view);
  // What is left of it may be taken by the slot's views, too, those that it gets later included;
  // and from LeaveSlot on by `views` in their place. With `needs_shows` a view that the slot gets
  // must be shown as well.
  void PutInSlot(BlockId block, uint8_t slot);
  void LeaveSlot(BlockId block, ViewMask views);
  bool needs_shows() const { return by_view_; }

  // Bytes of the segments; without segments the highest byte used.
  Bytes reserved() const { return reserved_; }
  // What the last request added to that.
  Bytes added() const { return added_; }
  // Where the next segment will lie.
  Bytes next_segment() const { return next_; }
  // Whether a run of the view holds so much.
  bool Fits(Bytes size, uint32_t view) const;

 private:
  static constexpr uint32_t kNone = Piece::kNone;

  struct AddressKey {
    Bytes offset = 0;
    uint32_t piece = kNone;
    bool operator<(const AddressKey& o) const { return offset < o.offset; }
  };

  bool SmallRequest(Bytes size) const { return options_.config && IsSmall(*options_.config, size); }
  bool In(uint32_t piece, uint32_t view) const {
    return by_view_ ? InView(*pieces_, piece, view) : listed_.In(piece, view);
  }

  uint32_t NewPiece(Bytes offset, Bytes size, bool small, uint32_t after);
  void DropPiece(uint32_t piece);
  void Forget(uint32_t piece);
  uint32_t Cut(uint32_t piece, Bytes offset);
  void LeaveRest(uint32_t piece, Bytes end);
  uint32_t SplitAt(uint32_t piece, Bytes offset);
  uint32_t PieceFrom(Bytes offset);

  bool Partly(uint32_t piece) const {
    const Piece& p = (*pieces_)[piece];
    return (p.views != 0 || p.slot != ViewSlots::kNone) && p.views != all_views_;
  }
  void ShowPiece(uint32_t piece, ViewMask views);
  void FindByView();
  void AddCommon(uint32_t piece);
  void LeaveViews(uint32_t piece);
  bool Alike(uint32_t piece, uint32_t next) const;
  void JoinAlike(uint32_t piece);
  void Absorb(uint32_t piece, uint32_t next);
  void ChooseIndex();

  Run FindRun(Bytes size, uint32_t view) const;
  Run Grow(Bytes size, uint32_t view);
  bool KeepsRest(bool small, Bytes rest) const;
  void Take(uint32_t first, BlockId block, Bytes end);

  Options options_;
  ViewMask all_views_;
  std::unique_ptr<std::vector<Piece>> pieces_;  // both indexes look at them
  std::vector<uint32_t> spare_;
  std::vector<uint32_t> piece_of_;  // by block: what is left of where it lay
  uint32_t partly_ = 0;             // pieces that are in some views only
  bool by_view_;                    // which index finds
  ViewRuns runs_;
  ListedRuns listed_;
  SortedChunks<AddressKey> by_address_;
  uint32_t top_ = kNone;  // the highest piece; without segments
  Bytes reserved_ = 0;
  Bytes added_ = 0;
  Bytes next_ = 0;  // where the next segment goes
};

}  // namespace graphkit
