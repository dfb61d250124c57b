#include "libgraphkit/alloc/chunks/indexed_map.h"

#include <bit>

namespace graphkit {
namespace {

uint32_t UnitsOf(Bytes size) { return static_cast<uint32_t>(size / kBlockGranularity); }

}  // namespace

template <typename Do>
void IndexedMap::ForEachOpen(ViewMask views, const Do& with) const {
  if (!options_.shared) {
    if (views != 0) with(static_cast<uint32_t>(views - 1));
    return;
  }
  for (views &= open_; views != 0; views &= views - 1)
    with(static_cast<uint32_t>(std::countr_zero(views)));
}

IndexedMap::IndexedMap(const Options& options, size_t blocks)
    : options_(options), piece_of_(blocks, kNone) {
  if (options_.own_first) options_.views *= 2;
  all_views_ = options_.views < kMaxViews ? (ViewMask{1} << options_.views) - 1 : ~ViewMask{0};
  runs_.resize(2 * size_t{options_.views});
}

void IndexedMap::AddHole(Bytes offset, Bytes size, bool small, uint32_t view, StreamId owner) {
  const uint32_t piece = NewPiece(offset, size, small, kNone);
  pieces_[piece].owner = owner;
  ShowPiece(piece, ViewsOfFresh(view));
}

Bytes IndexedMap::Place(BlockId block, Bytes size, uint32_t view) {
  added_ = 0;
  const Run run = FindRun(size, view);
  return PlaceIn(run.first == kNone ? Grow(size, view) : run, block, size);
}

Bytes IndexedMap::Place(BlockId block, Bytes size, StreamId owner, const MayTake& may_take) {
  added_ = 0;
  Run run = FindRun(size, may_take);
  if (run.first == kNone && options_.config) {
    const uint32_t piece = NewSegment(size);
    pieces_[piece].owner = owner;
    run = RunOf(piece, piece);
  } else if (run.first == kNone) {
    run = GrowTop(
        size, [&](uint32_t piece) { return may_take(pieces_[piece].last, pieces_[piece].owner); });
  }
  return PlaceIn(run, block, size);
}

Bytes IndexedMap::PlaceIn(const Run& run, BlockId block, Bytes size) {
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
  if (options_.shared ? (views & ~known) == 0 : known == views) return;
  ShowPiece(piece, views);
  JoinAlike(piece);
}

IndexedMap::Run IndexedMap::FindRun(Bytes size, uint32_t view) {
  if (options_.own_first) {
    if (const Run own = FindRunIn(size, Own(view)); own.first != kNone) return own;
  }
  return FindRunIn(size, view);
}

IndexedMap::Run IndexedMap::FindRunIn(Bytes size, uint32_t view) {
  Open(view);
  const SortedChunks<Run>& runs = Runs(SmallRequest(size), view);
  const auto at = runs.LowerBound({.size = UnitsOf(size)});
  return at == runs.end() ? Run{} : runs[at];
}

// The smallest stretch of pieces that the rule allows, the lowest of equals.
IndexedMap::Run IndexedMap::FindRun(Bytes size, const MayTake& may_take) const {
  Run best;
  for (uint32_t head = 0; head < pieces_.size(); ++head) {
    const Piece& segment = pieces_[head];
    if (segment.prev != kNone || segment.size == 0 || segment.small != SmallRequest(size)) continue;
    for (uint32_t piece = head; piece != kNone;) {
      const uint32_t first = piece;
      uint32_t last = kNone;
      for (; piece != kNone && may_take(pieces_[piece].last, pieces_[piece].owner);
           piece = pieces_[piece].next) {
        last = piece;
      }
      if (piece != kNone) piece = pieces_[piece].next;
      if (last == kNone) continue;
      const Run run = RunOf(first, last);
      if (run.size >= UnitsOf(size) && (best.first == kNone || run < best)) best = run;
    }
  }
  return best;
}

// Who may take a segment that `view` grew by.
IndexedMap::ViewMask IndexedMap::ViewsOfFresh(uint32_t view) const {
  if (options_.own_first) return (Bit(options_.views / 2) - 1) | Bit(Own(view));
  return options_.shared ? all_views_ : Bit(view);
}

uint32_t IndexedMap::NewSegment(Bytes size) {
  added_ = SegmentSize(*options_.config, size);
  const uint32_t piece = NewPiece(next_, added_, SmallRequest(size), kNone);
  next_ += RoundUp(added_, kSegmentAlignment);
  reserved_ += added_;
  return piece;
}

// Without segments: what may be taken at the top, and more above it.
template <typename Takes>
IndexedMap::Run IndexedMap::GrowTop(Bytes size, const Takes& takes) {
  uint32_t first = kNone;
  for (uint32_t at = top_; at != kNone && takes(at); at = pieces_[at].prev) first = at;
  added_ = first == kNone ? size : size - (reserved_ - pieces_[first].offset);
  const uint32_t piece = NewPiece(reserved_, added_, false, top_);
  reserved_ += added_;
  return RunOf(first == kNone ? piece : first, piece);
}

IndexedMap::Run IndexedMap::Grow(Bytes size, uint32_t view) {
  if (!options_.config) {
    const Run run = GrowTop(size, [&](uint32_t piece) { return In(piece, view); });
    ShowPiece(top_, Bit(view));
    return run;
  }
  const uint32_t piece = NewSegment(size);
  ShowPiece(piece, ViewsOfFresh(view));
  return RunOf(piece, piece);
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
    other_end_.resize(pieces_.size() * (options_.shared ? options_.views : 1));
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
  p.size = 0;
  p.views = 0;
  spare_.push_back(piece);
}

void IndexedMap::Forget(uint32_t piece) {
  BlockId& last = pieces_[piece].last;
  if (last.valid() && piece_of_[last.index()] == piece) piece_of_[last.index()] = kNone;
  last = {};
}

// Cuts it in two, which both stay in its views; the upper one is what is left of the last occupant.
uint32_t IndexedMap::SplitAt(uint32_t piece, Bytes offset) {
  const Bytes size = pieces_[piece].offset + pieces_[piece].size - offset;
  const uint32_t made = NewPiece(offset, size, pieces_[piece].small, piece);
  Piece& lower = pieces_[piece];
  Piece& upper = pieces_[made];
  lower.size -= size;
  upper.last = lower.last;
  upper.owner = lower.owner;
  upper.views = lower.views;
  lower.last = {};
  if (upper.last.valid() && piece_of_[upper.last.index()] == piece) {
    piece_of_[upper.last.index()] = made;
  }
  ForEachOpen(upper.views, [&](uint32_t view) {
    if (In(upper.next, view)) return;
    SetEnds(In(lower.prev, view) ? OtherEnd(piece, view) : piece, made, view);
  });
  return made;
}

// The piece that begins there; by address.
uint32_t IndexedMap::PieceFrom(Bytes offset) {
  const auto at = by_address_.LowerBound({offset, kNone});
  if (at != by_address_.end() && by_address_[at].offset == offset) return by_address_[at].piece;
  return SplitAt(by_address_[by_address_.previous(at)].piece, offset);
}

// True if both are in every view that they will ever be in, and in the same ones.
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
  ForEachOpen(pieces_[piece].views, [&](uint32_t view) {
    if (!In(pieces_[next].next, view)) SetEnds(OtherEnd(next, view), piece, view);
  });
  pieces_[piece].size += pieces_[next].size;
  DropPiece(next);
}

IndexedMap::Run IndexedMap::RunOf(uint32_t first, uint32_t last) const {
  const Bytes begin = pieces_[first].offset;
  return {UnitsOf(pieces_[last].offset + pieces_[last].size - begin), first, begin};
}

// Before runs of the view are asked for.
void IndexedMap::Open(uint32_t view) {
  if (!options_.shared || (open_ >> view & 1) != 0) return;
  open_ |= ViewMask{1} << view;
  for (uint32_t first = 0; first < pieces_.size(); ++first) {
    if (!In(first, view) || In(pieces_[first].prev, view)) continue;
    uint32_t last = first;
    while (In(pieces_[last].next, view)) last = pieces_[last].next;
    AddRun(first, last, view);
  }
}

void IndexedMap::AddRun(uint32_t first, uint32_t last, uint32_t view) {
  SetEnds(first, last, view);
  Runs(pieces_[first].small, view).Insert(RunOf(first, last));
}

void IndexedMap::EraseRun(uint32_t first, uint32_t last, uint32_t view) {
  Runs(pieces_[first].small, view).Erase(RunOf(first, last));
}

void IndexedMap::ShowPiece(uint32_t piece, ViewMask views) {
  ViewMask& known = pieces_[piece].views;
  const ViewMask fresh = options_.shared ? views & ~known : views;
  known = options_.shared ? known | views : views;
  ForEachOpen(fresh, [&](uint32_t view) { ShowIn(piece, view); });
}

void IndexedMap::ShowIn(uint32_t piece, uint32_t view) {
  const Piece& p = pieces_[piece];
  uint32_t first = piece;
  uint32_t last = piece;
  if (In(p.prev, view)) {
    first = OtherEnd(p.prev, view);
    EraseRun(first, p.prev, view);
  }
  if (In(p.next, view)) {
    last = OtherEnd(p.next, view);
    EraseRun(p.next, last, view);
  }
  AddRun(first, last, view);
}

void IndexedMap::LeaveViews(uint32_t piece) {
  ForEachOpen(pieces_[piece].views, [&](uint32_t view) { LeaveView(piece, view); });
  pieces_[piece].views = 0;
}

// The run that it is in falls apart.
void IndexedMap::LeaveView(uint32_t piece, uint32_t view) {
  const Piece& p = pieces_[piece];
  uint32_t first = piece;
  while (In(pieces_[first].prev, view)) first = pieces_[first].prev;
  const uint32_t last = OtherEnd(first, view);
  EraseRun(first, last, view);
  if (first != piece) AddRun(first, p.prev, view);
  if (last != piece) AddRun(p.next, last, view);
}

}  // namespace graphkit
