#include "libgraphkit/alloc/chunks/indexed_map.h"

#include <bit>

namespace graphkit {
namespace {

uint32_t UnitsOf(Bytes size) { return static_cast<uint32_t>(size / kBlockGranularity); }

}  // namespace

template <typename Do>
void IndexedMap::ForEachOpen(uint32_t piece, ViewMask views, const Do& with) const {
  if (many_) {
    if (views == 0) return;
    with(static_cast<uint32_t>(views - 1));
    if (!one_or_all_ || views != all_views_) return;
    const auto views_of = [&](uint32_t at) { return at == kNone ? 0 : pieces_[at].views; };
    const ViewMask before = views_of(pieces_[piece].prev);
    const ViewMask after = views_of(pieces_[piece].next);
    if (before != 0) with(static_cast<uint32_t>(before - 1));
    if (after != 0 && after != before) with(static_cast<uint32_t>(after - 1));
    return;
  }
  for (views &= open_; views != 0; views &= views - 1) {
    with(static_cast<uint32_t>(std::countr_zero(views)));
  }
}

IndexedMap::IndexedMap(const Options& options, size_t blocks)
    : options_(options), piece_of_(blocks, kNone) {
  if (options_.own_first) options_.views *= 2;
  many_ = options_.views > kMaxViews;
  one_or_all_ = many_ && options_.shared;
  all_views_ = options_.views == kMaxViews ? ~ViewMask{0} : Bit(options_.views) - (many_ ? 0 : 1);
  if (!many_) runs_.resize(2 * size_t{options_.views});
}

void IndexedMap::AddHole(Bytes offset, Bytes size, bool small, uint32_t view) {
  ShowPiece(NewPiece(offset, size, small, kNone), ViewsOfFresh(view));
}

Bytes IndexedMap::Place(BlockId block, Bytes size, uint32_t view) {
  added_ = 0;
  Run run = FindRun(size, view);
  if (run.first == kNone) run = Grow(size, view);
  const Bytes available = run.size * kBlockGranularity;
  const bool split = KeepsRest(pieces_[run.first].small, available - size);
  Take(run.first, block, run.offset + (split ? size : available));
  return run.offset;
}

void IndexedMap::PlaceAt(BlockId block, Bytes offset, Bytes size) {
  added_ = 0;
  if (offset + size > reserved_) {
    added_ = offset + size - reserved_;
    NewPiece(reserved_, added_, false, top_);
    reserved_ += added_;
  }
  Take(PieceFrom(offset), block, offset + size);
}

void IndexedMap::ShowTo(BlockId block, ViewMask views) {
  const uint32_t piece = piece_of_[block.index()];
  if (piece == kNone) return;
  const ViewMask known = pieces_[piece].views;
  if (many_ ? known == views || (one_or_all_ && known != 0 && views != all_views_)
            : (views & ~known) == 0) {
    return;
  }
  if (one_or_all_) {
    JoinInAll(piece, views);
    return;
  }
  ShowPiece(piece, views);
  JoinAlike(piece);
}

// Shows it; beside a piece that is in all, too, as one with that.
void IndexedMap::JoinInAll(uint32_t piece, ViewMask views) {
  LeaveViews(piece);
  for (const bool after : {true, false}) {
    const uint32_t other = after ? pieces_[piece].next : pieces_[piece].prev;
    if (views != all_views_ || !InAll(other)) continue;
    LeaveViews(other);
    Absorb(after ? piece : other, after ? other : piece);
    if (!after) piece = other;
  }
  ShowPiece(piece, views);
}

Run IndexedMap::FindRun(Bytes size, uint32_t view) {
  if (options_.own_first) {
    if (const Run own = FindRunIn(size, Own(view)); own.first != kNone) return own;
  }
  return FindRunIn(size, view);
}

Run IndexedMap::FindRunIn(Bytes size, uint32_t view) {
  Open(view);
  const bool small = SmallRequest(size);
  if (!many_) return Runs(small, view).Find(UnitsOf(size));
  const Run in_all = one_or_all_ ? FindInAll(size, small, view) : Run{};
  const auto at = many_runs_.LowerBound({view, small, {UnitsOf(size), kNone, 0}});
  if (at == many_runs_.end()) return in_all;
  const ViewRun& found = many_runs_[at];
  if (found.view != view || found.small != small) return in_all;
  return in_all.first == kNone || found.run < in_all ? found.run : in_all;
}

// Of the pieces that are in all views: those beside one of the view are in a longer run of it.
Run IndexedMap::FindInAll(Bytes size, bool small, uint32_t view) const {
  auto at = many_runs_.LowerBound({options_.views, small, {UnitsOf(size), kNone, 0}});
  for (; at != many_runs_.end() && many_runs_[at].small == small; at = many_runs_.next(at)) {
    const Run& run = many_runs_[at].run;
    const Piece& piece = pieces_[run.first];
    if (!InOne(piece.prev, view) && !InOne(piece.next, view)) return run;
  }
  return {};
}

// Who may take a segment that `view` grew by.
IndexedMap::ViewMask IndexedMap::ViewsOfFresh(uint32_t view) const {
  if (options_.own_first) return (Bit(options_.views / 2) - 1) | Bit(Own(view));
  return options_.shared ? all_views_ : Bit(view);
}

// A segment of its own; without segments, what may be taken at the top and more above it.
Run IndexedMap::Grow(Bytes size, uint32_t view) {
  if (options_.config) {
    added_ = SegmentSize(*options_.config, size);
    const uint32_t piece = NewPiece(next_, added_, SmallRequest(size), kNone);
    next_ += RoundUp(added_, kSegmentAlignment);
    reserved_ += added_;
    ShowPiece(piece, ViewsOfFresh(view));
    return RunOf(piece, piece);
  }
  uint32_t first = In(top_, view) ? top_ : kNone;
  while (first != kNone && In(pieces_[first].prev, view)) first = pieces_[first].prev;
  added_ = first == kNone ? size : size - (reserved_ - pieces_[first].offset);
  const uint32_t piece = NewPiece(reserved_, added_, false, top_);
  reserved_ += added_;
  ShowPiece(piece, Bit(view));
  return RunOf(first == kNone ? piece : first, piece);
}

bool IndexedMap::KeepsRest(bool small, Bytes rest) const {
  if (!options_.config || small) return rest > 0;
  return rest > options_.config->small_size;
}

// From the start of the piece `first` up to `end` becomes the block; the rest of the last piece
// stays as it was.
void IndexedMap::Take(uint32_t first, BlockId block, Bytes end) {
  for (uint32_t piece = first; piece != kNone && pieces_[piece].offset < end;) {
    if (pieces_[piece].offset + pieces_[piece].size > end) {
      SplitAt(piece, end);
    } else {
      Forget(piece);
    }
    LeaveViews(piece);
    const uint32_t next = pieces_[piece].next;
    if (piece != first) {
      pieces_[first].size += pieces_[piece].size;
      DropPiece(piece);
    }
    piece = next;
  }
  pieces_[first].last = block;
  piece_of_[block.index()] = first;
}

// After another one of its segment, or as the first of one.
uint32_t IndexedMap::NewPiece(Bytes offset, Bytes size, bool small, uint32_t after) {
  uint32_t piece = static_cast<uint32_t>(pieces_.size());
  if (spare_.empty()) {
    pieces_.emplace_back();
    other_end_.resize(pieces_.size() * Ends());
  } else {
    piece = spare_.back();
    spare_.pop_back();
  }
  const uint32_t next = after == kNone ? kNone : pieces_[after].next;
  pieces_[piece] = {
      .offset = offset, .size = size, .prev = after, .next = next, .last = {}, .small = small};
  if (after != kNone) pieces_[after].next = piece;
  if (next != kNone) pieces_[next].prev = piece;
  if (next == kNone) top_ = piece;
  if (options_.by_address) by_address_.Insert({offset, piece});
  return piece;
}

// Its memory belongs to the piece before it.
void IndexedMap::DropPiece(uint32_t piece) {
  Piece& p = pieces_[piece];
  pieces_[p.prev].next = p.next;
  if (p.next != kNone) pieces_[p.next].prev = p.prev;
  if (top_ == piece) top_ = p.prev;
  if (options_.by_address) by_address_.Erase({p.offset, piece});
  p.views = 0;
  spare_.push_back(piece);
}

void IndexedMap::Forget(uint32_t piece) {
  BlockId& last = pieces_[piece].last;
  if (last.valid() && piece_of_[last.index()] == piece) piece_of_[last.index()] = kNone;
  last = {};
}

// Cuts it in two; the upper one is what is left of the last occupant. Both stay in its views; with
// one_or_all_ the upper one does.
uint32_t IndexedMap::SplitAt(uint32_t piece, Bytes offset) {
  const ViewMask views = pieces_[piece].views;
  if (one_or_all_) LeaveViews(piece);
  const Bytes size = pieces_[piece].offset + pieces_[piece].size - offset;
  const uint32_t made = NewPiece(offset, size, pieces_[piece].small, piece);
  Piece& lower = pieces_[piece];
  Piece& upper = pieces_[made];
  lower.size -= size;
  upper.last = lower.last;
  upper.views = lower.views;
  lower.last = {};
  if (upper.last.valid() && piece_of_[upper.last.index()] == piece) {
    piece_of_[upper.last.index()] = made;
  }
  if (one_or_all_) {
    ShowPiece(made, views);
    return made;
  }
  ForEachOpen(made, upper.views, [&](uint32_t view) {
    if (In(upper.next, view)) return;
    SetEnds(In(lower.prev, view) ? FirstOf(piece, view) : piece, made, view);
  });
  return made;
}

// The piece that begins there; by address.
uint32_t IndexedMap::PieceFrom(Bytes offset) {
  const auto at = by_address_.LowerBound({offset, kNone});
  if (at != by_address_.end() && by_address_[at].offset == offset) return by_address_[at].piece;
  return SplitAt(by_address_[by_address_.previous(at)].piece, offset);
}

// Whether both are in every view that they will ever be in, and in the same ones.
bool IndexedMap::Alike(uint32_t piece, uint32_t next) const {
  if (piece == kNone || next == kNone) return false;
  const ViewMask views = pieces_[piece].views;
  if (views == 0 || views != pieces_[next].views) return false;
  return !options_.shared || views == all_views_;
}

// Makes it one piece with neighbours that it will never differ from.
void IndexedMap::JoinAlike(uint32_t piece) {
  const uint32_t next = pieces_[piece].next;
  const uint32_t prev = pieces_[piece].prev;
  if (Alike(piece, next)) Absorb(piece, next);
  if (Alike(prev, piece)) Absorb(prev, piece);
}

void IndexedMap::Absorb(uint32_t piece, uint32_t next) {
  Forget(piece);
  Forget(next);
  ForEachOpen(piece, pieces_[piece].views, [&](uint32_t view) {
    if (!In(pieces_[next].next, view)) SetEnds(FirstOf(next, view), piece, view);
  });
  pieces_[piece].size += pieces_[next].size;
  DropPiece(next);
}

Run IndexedMap::RunOf(uint32_t first, uint32_t last) const {
  const Bytes begin = pieces_[first].offset;
  return {UnitsOf(pieces_[last].offset + pieces_[last].size - begin), first, begin};
}

// Before runs of the view are asked for.
void IndexedMap::Open(uint32_t view) {
  if (many_ || (open_ >> view & 1) != 0) return;
  open_ |= ViewMask{1} << view;
  for (uint32_t first = 0; first < pieces_.size(); ++first) {
    if (!In(first, view) || In(pieces_[first].prev, view)) continue;
    uint32_t last = first;
    while (In(pieces_[last].next, view)) last = pieces_[last].next;
    AddRun(first, last, view);
  }
}

uint32_t IndexedMap::LastOf(uint32_t first, uint32_t view) const {
  if (!one_or_all_) return other_end_[first * Ends() + (Ends() == 1 ? 0 : view)];
  const bool alone = InAll(first) && !InOne(pieces_[first].next, view);
  return alone ? first : other_end_[first * Ends()];
}

uint32_t IndexedMap::FirstOf(uint32_t last, uint32_t view) const {
  if (!one_or_all_) return LastOf(last, view);
  const bool alone = InAll(last) && !InOne(pieces_[last].prev, view);
  return alone ? last : other_end_[last * Ends() + 1];
}

void IndexedMap::SetEnds(uint32_t first, uint32_t last, uint32_t view) {
  if (one_or_all_ && view == options_.views) return;
  const size_t slot = Ends() == 1 || one_or_all_ ? 0 : view;
  other_end_[first * Ends() + slot] = last;
  other_end_[last * Ends() + (one_or_all_ ? 1 : slot)] = first;
}

// None where it is a piece that is in all views, and of this view there is nothing beside it.
void IndexedMap::AddRun(uint32_t first, uint32_t last, uint32_t view) {
  if (!IsRun(first, last, view)) return;
  SetEnds(first, last, view);
  const bool small = pieces_[first].small;
  if (many_) {
    many_runs_.Insert({view, small, RunOf(first, last)});
  } else {
    Runs(small, view).Insert(RunOf(first, last));
  }
}

void IndexedMap::EraseRun(uint32_t first, uint32_t last, uint32_t view) {
  if (!IsRun(first, last, view)) return;
  const bool small = pieces_[first].small;
  const Run run = RunOf(first, last);
  if (many_) {
    many_runs_.Erase({view, small, run});
  } else {
    Runs(small, view).Erase(run);
  }
}

void IndexedMap::ShowPiece(uint32_t piece, ViewMask views) {
  ViewMask& known = pieces_[piece].views;
  const ViewMask fresh = many_ ? views : views & ~known;
  known = many_ ? views : known | views;
  ForEachOpen(piece, fresh, [&](uint32_t view) { ShowIn(piece, view); });
}

void IndexedMap::ShowIn(uint32_t piece, uint32_t view) {
  const Piece& p = pieces_[piece];
  uint32_t first = piece;
  uint32_t last = piece;
  if (In(p.prev, view)) {
    first = FirstOf(p.prev, view);
    EraseRun(first, p.prev, view);
  }
  if (In(p.next, view)) {
    last = LastOf(p.next, view);
    EraseRun(p.next, last, view);
  }
  AddRun(first, last, view);
}

void IndexedMap::LeaveViews(uint32_t piece) {
  ForEachOpen(piece, pieces_[piece].views, [&](uint32_t view) { LeaveView(piece, view); });
  pieces_[piece].views = 0;
}

// The run that it is in falls apart.
void IndexedMap::LeaveView(uint32_t piece, uint32_t view) {
  const Piece& p = pieces_[piece];
  uint32_t first = piece;
  while (In(pieces_[first].prev, view)) first = pieces_[first].prev;
  const uint32_t last = LastOf(first, view);
  EraseRun(first, last, view);
  if (first != piece) AddRun(first, p.prev, view);
  if (last != piece) AddRun(p.next, last, view);
}

}  // namespace graphkit
