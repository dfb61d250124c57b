// Where blocks lie, and who may take what is free: memory that is handed on by a rule that
// says, once for each stream, when a block's memory may go to that stream's mallocs. The same
// places as PieceMap finds, without looking at every piece.
//
// Memory is cut into pieces. A view is a stream that allocates, or several that see memory alike; a
// piece that is free is in the views that may take it, and neighbours in one view are one run of
// it:
//
//     pieces    |  a  | b | c (held) |   d   | e |        a, b and d are in view 0,
//     view 0    [   ab    ]          [   d   ]            b, d and e in view 1
//     view 1          [ b ]          [    de     ]
//
// A piece is in a view from Show on until it is taken. A request takes the smallest run of its view
// that holds it, the lowest of equals. Pieces that are in every view that they will ever be in
// become one piece with such a neighbour. However many pieces there are, a run is found in a few
// steps; a piece that comes or goes is brought up to date in each of its views that was asked for.
//
// Of more than 64 views a piece is in one of them only, or in all. One that is in all is a run of
// its own, and belongs to the runs of no other views than those that its neighbours are in:
//
//     pieces     | a | all | b | c (held) | all |
//     runs       [  a all  ]                         view a; of a request of another view
//                    [ all b ]                       view b    they are only what is in all
//                    [ all ]              [ all ]    all
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "libgraphkit/alloc/chunks/run_set.h"
#include "libgraphkit/alloc/chunks/sorted_chunks.h"
#include "libgraphkit/ids.h"
#include "libgraphkit/model/caching_config.h"
#include "libgraphkit/units.h"

namespace graphkit {

class IndexedMap {
 public:
  static constexpr uint32_t kMaxViews = 64;

  struct Options {
    // With it segments by the rules of the caching allocator; otherwise one stretch of memory that
    // grows at its top.
    std::optional<CachingConfig> config;
    uint32_t views = 1;
    // A piece may be in any number of views, of more than kMaxViews in one or all; otherwise in
    // one.
    bool shared = false;
    bool by_address = false;  // PlaceAt is used: keeps pieces by address as well
    // Shared: a request takes what is its view's own before what others show it. With it there may
    // be half as many views.
    bool own_first = false;
  };
  // `blocks`: ids are below it.
  IndexedMap(const Options& options, size_t blocks);

  // One more id.
  void AddBlock() { piece_of_.push_back(kNone); }

  // With segments: free memory of one that others lie in, and where the next segment may begin.
  void AddHole(Bytes offset, Bytes size, bool small, uint32_t view);
  void BeginAt(Bytes offset) { next_ = offset; }

  // `size`: rounded up to 512, not 0. Segments lie one after the other, at multiples of 2 MiB.
  Bytes Place(BlockId block, Bytes size, uint32_t view);
  // Without segments: where the caller says. The block that lay there is let go.
  void PlaceAt(BlockId block, Bytes offset, Bytes size);
  // What is left of the block's memory may be taken by the view, by all views, from here on.
  void Show(BlockId block, uint32_t view) { ShowTo(block, Bit(view)); }
  void ShowOwn(BlockId block, uint32_t view) { ShowTo(block, Bit(view) | Bit(Own(view))); }
  void ShowToAll(BlockId block) { ShowTo(block, all_views_); }

  // Bytes of the segments; without segments the highest byte used.
  Bytes reserved() const { return reserved_; }
  // What the last request added to that.
  Bytes added() const { return added_; }
  // Where the next segment will lie.
  Bytes next_segment() const { return next_; }
  // Whether a run of the view holds so much.
  bool Fits(Bytes size, uint32_t view) { return FindRun(size, view).first != kNone; }

 private:
  static constexpr uint32_t kNone = RunSet::kNone;
  // A bit a view; of many views its number and 1, and all of them are the one after the last.
  using ViewMask = uint64_t;

  struct Piece {
    Bytes offset = 0;
    Bytes size = 0;
    uint32_t prev = kNone;  // neighbours in the segment
    uint32_t next = kNone;
    BlockId last;  // who lies or lay there; none: it no longer matters
    bool small = false;
    ViewMask views = 0;
  };
  struct AddressKey {
    Bytes offset = 0;
    uint32_t piece = kNone;
    bool operator<(const AddressKey& o) const { return offset < o.offset; }
  };

  bool SmallRequest(Bytes size) const { return options_.config && IsSmall(*options_.config, size); }
  uint32_t NewPiece(Bytes offset, Bytes size, bool small, uint32_t after);
  void DropPiece(uint32_t piece);
  void Forget(uint32_t piece);
  uint32_t SplitAt(uint32_t piece, Bytes offset);
  uint32_t PieceFrom(Bytes offset);

  // A run of one of many views.
  struct ViewRun {
    uint32_t view = 0;
    bool small = false;
    Run run;
    bool operator<(const ViewRun& o) const {
      if (view != o.view) return view < o.view;
      return small != o.small ? small < o.small : run < o.run;
    }
  };

  ViewMask Bit(uint32_t view) const { return many_ ? ViewMask{view} + 1 : ViewMask{1} << view; }
  // Those of the piece's views that were asked for: of many, all that it is in a run of.
  template <typename Do>
  void ForEachOpen(uint32_t piece, ViewMask views, const Do& with) const;
  // With own_first: what belongs to a view alone is a view, too.
  uint32_t Own(uint32_t view) const { return options_.views / 2 + view; }
  ViewMask ViewsOfFresh(uint32_t view) const;
  void ShowTo(BlockId block, ViewMask views);
  bool Alike(uint32_t piece, uint32_t next) const;
  void JoinAlike(uint32_t piece);
  void JoinInAll(uint32_t piece, ViewMask views);
  void Absorb(uint32_t piece, uint32_t next);

  bool In(uint32_t piece, uint32_t view) const {
    if (piece == kNone) return false;
    const ViewMask views = pieces_[piece].views;
    if (!many_) return (views >> view & 1) != 0;
    return views == Bit(view) || (one_or_all_ && views == all_views_);
  }
  bool InAll(uint32_t piece) const { return piece != kNone && pieces_[piece].views == all_views_; }
  // With one_or_all_: whether the piece is in this view only.
  bool InOne(uint32_t piece, uint32_t view) const {
    return piece != kNone && pieces_[piece].views == Bit(view);
  }
  RunSet& Runs(bool small, uint32_t view) { return runs_[2 * size_t{view} + (small ? 1 : 0)]; }
  Run RunOf(uint32_t first, uint32_t last) const;
  // What there is of other_end_ for each piece: one for each view that a run may end there of.
  size_t Ends() const { return one_or_all_ ? 2 : options_.shared ? options_.views : 1; }
  // The other end of the run that begins, or ends, with the piece.
  uint32_t LastOf(uint32_t first, uint32_t view) const;
  uint32_t FirstOf(uint32_t last, uint32_t view) const;
  void SetEnds(uint32_t first, uint32_t last, uint32_t view);
  // Whether these neighbours are a run of the view: with one_or_all_ not a piece that is in all.
  bool IsRun(uint32_t first, uint32_t last, uint32_t view) const {
    return !one_or_all_ || first != last || InOne(first, view);
  }
  void Open(uint32_t view);
  void AddRun(uint32_t first, uint32_t last, uint32_t view);
  void EraseRun(uint32_t first, uint32_t last, uint32_t view);
  void ShowPiece(uint32_t piece, ViewMask views);
  void ShowIn(uint32_t piece, uint32_t view);
  void LeaveViews(uint32_t piece);
  void LeaveView(uint32_t piece, uint32_t view);

  Run FindRun(Bytes size, uint32_t view);
  Run FindRunIn(Bytes size, uint32_t view);
  Run FindInAll(Bytes size, bool small, uint32_t view) const;
  Run Grow(Bytes size, uint32_t view);
  bool KeepsRest(bool small, Bytes rest) const;
  void Take(uint32_t first, BlockId block, Bytes end);

  Options options_;
  bool many_ = false;        // more views than bits
  bool one_or_all_ = false;  // and shared
  ViewMask all_views_;
  std::vector<Piece> pieces_;
  std::vector<uint32_t> spare_;
  std::vector<uint32_t> piece_of_;   // by block: what is left of where it lay
  ViewMask open_ = 0;                // views that were asked for: their runs are known
  std::vector<uint32_t> other_end_;  // by piece, and where there may be several by view; with
                                     // one_or_all_ of the run that it is first of, and last of
  std::vector<RunSet> runs_;         // by view, large and small
  SortedChunks<ViewRun> many_runs_;  // of many views, instead
  SortedChunks<AddressKey> by_address_;
  uint32_t top_ = kNone;  // the highest piece; without segments
  Bytes reserved_ = 0;
  Bytes added_ = 0;
  Bytes next_ = 0;  // where the next segment goes
};

}  // namespace graphkit
