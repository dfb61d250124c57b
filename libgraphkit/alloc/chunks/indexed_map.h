// Where blocks lie, and who may take what is free: memory that is handed on by a rule that
// says, once for each stream, when a block's memory may go to that stream's mallocs; or by one that
// decides pair by pair, for which every piece is looked at.
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
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

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
    // A piece may be in any number of views, of which there are at most kMaxViews; otherwise in
    // one of any number.
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
  // `owner`: the stream whose request made the segment; only rules ask for it.
  void AddHole(Bytes offset, Bytes size, bool small, uint32_t view, StreamId owner = {});
  void BeginAt(Bytes offset) { next_ = offset; }

  // `size`: rounded up to 512, not 0. Segments lie one after the other, at multiples of 2 MiB.
  Bytes Place(BlockId block, Bytes size, uint32_t view);
  // The same by a rule: true if the request, of the stream `owner`, may lie where `last` lay; for
  // memory where none lay, `last` is none. Nothing is shown to a view then.
  using MayTake = std::function<bool(BlockId last, StreamId owner)>;
  Bytes Place(BlockId block, Bytes size, StreamId owner, const MayTake& may_take);
  // Without segments: where the caller says. The block that lay there is let go.
  void PlaceAt(BlockId block, Bytes offset, Bytes size);
  // The rest of the block's memory may be taken by the view (shared: by all of them) from here
  // on.
  void Show(BlockId block, uint32_t view) { ShowTo(block, Bit(view)); }
  void ShowOwn(BlockId block, uint32_t view) { ShowTo(block, Bit(view) | Bit(Own(view))); }
  void ShowToAll(BlockId block) { ShowTo(block, all_views_); }

  // Bytes of the segments; without segments the highest byte used.
  Bytes reserved() const { return reserved_; }
  // The last request's part of that.
  Bytes added() const { return added_; }
  // Where the next segment will lie.
  Bytes next_segment() const { return next_; }
  // True if a run of the view holds so much.
  bool Fits(Bytes size, uint32_t view) { return FindRun(size, view).first != kNone; }
  bool Fits(Bytes size, const MayTake& may_take) const {
    return FindRun(size, may_take).first != kNone;
  }

 private:
  static constexpr uint32_t kNone = 0xffffffffu;
  // Shared: a bit for each view; otherwise 1 + the number of the one view.
  using ViewMask = uint64_t;

  // Neighbouring pieces of one view.
  struct Run {
    uint32_t size = 0;             // in units of 512 bytes; not 0
    uint32_t first = 0xffffffffu;  // its first piece
    Bytes offset = 0;
    bool operator<(const Run& o) const {
      return size != o.size ? size < o.size : offset < o.offset;
    }
  };

  struct Piece {
    Bytes offset = 0;
    Bytes size = 0;
    uint32_t prev = kNone;  // neighbours in the segment
    uint32_t next = kNone;
    BlockId last;  // who lies or lay there; none: it no longer matters
    StreamId owner = {};
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

  ViewMask Bit(uint32_t view) const {
    return options_.shared ? ViewMask{1} << view : ViewMask{view} + 1;
  }
  // Shared: those of the views that were asked for.
  template <typename Do>
  void ForEachOpen(ViewMask views, const Do& with) const;
  // With own_first: what belongs to a view alone is a view, too.
  uint32_t Own(uint32_t view) const { return options_.views / 2 + view; }
  ViewMask ViewsOfFresh(uint32_t view) const;
  void ShowTo(BlockId block, ViewMask views);
  bool Alike(uint32_t piece, uint32_t next) const;
  void JoinAlike(uint32_t piece);
  void Absorb(uint32_t piece, uint32_t next);

  bool In(uint32_t piece, uint32_t view) const {
    if (piece == kNone) return false;
    const ViewMask views = pieces_[piece].views;
    return options_.shared ? (views >> view & 1) != 0 : views == Bit(view);
  }
  SortedChunks<Run>& Runs(bool small, uint32_t view) {
    return runs_[2 * size_t{view} + (small ? 1 : 0)];
  }
  Run RunOf(uint32_t first, uint32_t last) const;
  // The other end of the run that begins, or ends, with the piece.
  uint32_t& OtherEnd(uint32_t piece, uint32_t view) {
    return options_.shared ? other_end_[size_t{piece} * options_.views + view] : other_end_[piece];
  }
  void SetEnds(uint32_t first, uint32_t last, uint32_t view) {
    OtherEnd(first, view) = last;
    OtherEnd(last, view) = first;
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
  Run FindRun(Bytes size, const MayTake& may_take) const;
  uint32_t NewSegment(Bytes size);
  template <typename Takes>
  Run GrowTop(Bytes size, const Takes& takes);
  Run Grow(Bytes size, uint32_t view);
  Bytes PlaceIn(const Run& run, BlockId block, Bytes size);
  bool KeepsRest(bool small, Bytes rest) const;
  void Take(uint32_t first, BlockId block, Bytes end);

  Options options_;
  ViewMask all_views_;
  std::vector<Piece> pieces_;
  std::vector<uint32_t> spare_;
  std::vector<uint32_t> piece_of_;       // by block: what is left of where it lay
  ViewMask open_ = 0;                    // shared: views that were asked for: their runs are known
  std::vector<uint32_t> other_end_;      // by piece; shared: and by view
  std::vector<SortedChunks<Run>> runs_;  // by view, large and small
  SortedChunks<AddressKey> by_address_;
  uint32_t top_ = kNone;  // the highest piece; without segments
  Bytes reserved_ = 0;
  Bytes added_ = 0;
  Bytes next_ = 0;  // where the next segment goes
};

}  // namespace graphkit
