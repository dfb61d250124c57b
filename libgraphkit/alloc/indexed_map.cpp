#include "libgraphkit/alloc/indexed_map.h"

#include <bit>

namespace graphkit {
namespace {

constexpr Bytes kSegmentAlignment = Bytes{2} << 20;

uint32_t Units(Bytes size) { return static_cast<uint32_t>(size / kBlockGranularity); }

}  // namespace

IndexedMap::IndexedMap(const Options& options, size_t blocks)
    : options_(options),
      all_views_(options.views >= kMaxViews ? ~Mask{0} : (Mask{1} << options.views) - 1),
      piece_of_(blocks, kNone),
      runs_(2 * size_t{options.views}) {}

Bytes IndexedMap::Place(BlockId block, Bytes size, uint32_t view) {
  added_ = 0;
  uint32_t first = FindRun(size, view);
  if (first == kNone) first = Grow(size, view);
  const Bytes offset = pieces_[first].offset;
  const Bytes available = RunOf(first, OtherEnd(first, view)).size * kBlockGranularity;
  const bool split = KeepsRest(pieces_[first].small, available - size);
  Take(first, block, offset + (split ? size : available));
  return offset;
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

void IndexedMap::Show(BlockId block, uint32_t view) {
  const uint32_t piece = piece_of_[block.index()];
  if (piece == kNone || InView(piece, view)) return;
  ShowPiece(piece, view);
  const uint32_t next = pieces_[piece].next;
  const uint32_t prev = pieces_[piece].prev;
  if (Alike(piece, next)) Absorb(piece, next);
  if (Alike(prev, piece)) Absorb(prev, piece);
}

bool IndexedMap::Fits(Bytes size, uint32_t view) const { return FindRun(size, view) != kNone; }

uint32_t IndexedMap::FindRun(Bytes size, uint32_t view) const {
  return RunsOf(SmallRequest(size), view).Find(Units(size));
}

// A segment of its own; without segments, what may be taken at the top and more above it. Returns
// the first piece of a run of the view.
uint32_t IndexedMap::Grow(Bytes size, uint32_t view) {
  if (options_.config) {
    added_ = SegmentSize(*options_.config, size);
    const uint32_t piece = NewPiece(next_, added_, SmallRequest(size), kNone);
    next_ += RoundUp(added_, kSegmentAlignment);
    reserved_ += added_;
    for (uint32_t v = 0; v < options_.views; ++v) {
      if (v == view || options_.shared) ShowPiece(piece, v);
    }
    return piece;
  }
  uint32_t first = kNone;
  added_ = size;
  if (InView(top_, view)) {
    first = OtherEnd(top_, view);
    added_ -= reserved_ - pieces_[first].offset;
  }
  const uint32_t piece = NewPiece(reserved_, added_, false, top_);
  reserved_ += added_;
  ShowPiece(piece, view);
  return first == kNone ? piece : first;
}

bool IndexedMap::KeepsRest(bool small, Bytes rest) const {
  if (!options_.config || small) return rest > 0;
  return rest > options_.config->small_size;
}

// From the start of the piece `first` up to `end` becomes the block; the rest of the last piece
// stays as it was.
void IndexedMap::Take(uint32_t first, BlockId block, Bytes end) {
  for (uint32_t piece = first; piece != kNone && pieces_[piece].offset < end;) {
    if (pieces_[piece].offset + pieces_[piece].size > end) SplitAt(piece, end);
    const uint32_t next = pieces_[piece].next;
    LeaveViews(piece);
    Forget(piece);
    if (piece != first) {
      pieces_[first].size += pieces_[piece].size;
      DropPiece(piece);
    }
    piece = next;
  }
  pieces_[first].last = block;
  piece_of_[block.index()] = first;
}

Run IndexedMap::RunOf(uint32_t first, uint32_t last) const {
  const Bytes begin = pieces_[first].offset;
  return {Units(pieces_[last].offset + pieces_[last].size - begin), first, begin};
}

// After another one of its segment, or as the first of one.
uint32_t IndexedMap::NewPiece(Bytes offset, Bytes size, bool small, uint32_t after) {
  uint32_t piece = static_cast<uint32_t>(pieces_.size());
  if (spare_.empty()) {
    pieces_.emplace_back();
    other_end_.resize(other_end_.size() + (options_.shared ? options_.views : 1));
  } else {
    piece = spare_.back();
    spare_.pop_back();
  }
  const uint32_t next = after == kNone ? kNone : pieces_[after].next;
  pieces_[piece] = {offset, size, after, next, {}, small, 0};
  if (after != kNone) pieces_[after].next = piece;
  if (next != kNone) pieces_[next].prev = piece;
  if (next == kNone) top_ = piece;
  if (options_.by_address) by_address_.Insert({offset, piece});
  return piece;
}

// Its memory belongs to the piece before it.
void IndexedMap::DropPiece(uint32_t piece) {
  const Piece& p = pieces_[piece];
  pieces_[p.prev].next = p.next;
  if (p.next != kNone) pieces_[p.next].prev = p.prev;
  if (top_ == piece) top_ = p.prev;
  if (options_.by_address) by_address_.Erase({p.offset, piece});
  spare_.push_back(piece);
}

void IndexedMap::Forget(uint32_t piece) {
  BlockId& last = pieces_[piece].last;
  if (last.valid() && piece_of_[last.index()] == piece) piece_of_[last.index()] = kNone;
  last = {};
}

// Both parts stay in the piece's views; the upper one is what is left of the last occupant.
uint32_t IndexedMap::SplitAt(uint32_t piece, Bytes offset) {
  const Bytes size = pieces_[piece].offset + pieces_[piece].size - offset;
  const uint32_t upper = NewPiece(offset, size, pieces_[piece].small, piece);
  Piece& lower = pieces_[piece];
  lower.size -= size;
  const BlockId last = lower.last;
  lower.last = {};
  pieces_[upper].last = last;
  pieces_[upper].views = lower.views;
  if (last.valid() && piece_of_[last.index()] == piece) piece_of_[last.index()] = upper;
  for (Mask left = lower.views; left != 0; left &= left - 1) {
    const auto view = static_cast<uint32_t>(std::countr_zero(left));
    if (InView(pieces_[upper].next, view)) continue;
    const uint32_t first = InView(lower.prev, view) ? OtherEnd(piece, view) : piece;
    OtherEnd(first, view) = upper;
    OtherEnd(upper, view) = first;
  }
  return upper;
}

// The piece that begins there; by address.
uint32_t IndexedMap::PieceFrom(Bytes offset) {
  const auto at = by_address_.LowerBound({offset, kNone});
  if (at != by_address_.end() && by_address_[at].offset == offset) return by_address_[at].piece;
  return SplitAt(by_address_[by_address_.previous(at)].piece, offset);
}

void IndexedMap::AddRun(uint32_t first, uint32_t last, uint32_t view) {
  OtherEnd(first, view) = last;
  OtherEnd(last, view) = first;
  RunsOf(pieces_[first].small, view).Insert(RunOf(first, last));
}

void IndexedMap::ShowPiece(uint32_t piece, uint32_t view) {
  Piece& p = pieces_[piece];
  p.views |= Mask{1} << view;
  RunSet& runs = RunsOf(p.small, view);
  uint32_t first = piece;
  uint32_t last = piece;
  if (InView(p.prev, view)) {
    first = OtherEnd(p.prev, view);
    runs.Erase(RunOf(first, p.prev));
  }
  if (InView(p.next, view)) {
    last = OtherEnd(p.next, view);
    runs.Erase(RunOf(p.next, last));
  }
  AddRun(first, last, view);
}

// The run that it is in falls apart.
void IndexedMap::LeaveView(uint32_t piece, uint32_t view) {
  Piece& p = pieces_[piece];
  uint32_t first = piece;
  while (InView(pieces_[first].prev, view)) first = pieces_[first].prev;
  const uint32_t last = OtherEnd(first, view);
  RunsOf(p.small, view).Erase(RunOf(first, last));
  p.views &= ~(Mask{1} << view);
  if (first != piece) AddRun(first, p.prev, view);
  if (last != piece) AddRun(p.next, last, view);
}

void IndexedMap::LeaveViews(uint32_t piece) {
  for (Mask left = pieces_[piece].views; left != 0; left &= left - 1) {
    LeaveView(piece, static_cast<uint32_t>(std::countr_zero(left)));
  }
}

// Whether both are in every view that they will ever be in, and in the same ones.
bool IndexedMap::Alike(uint32_t piece, uint32_t next) const {
  if (piece == kNone || next == kNone) return false;
  const Mask views = pieces_[piece].views;
  if (views == 0 || views != pieces_[next].views) return false;
  return !options_.shared || views == all_views_;
}

void IndexedMap::Absorb(uint32_t piece, uint32_t next) {
  Forget(piece);
  Forget(next);
  for (Mask left = pieces_[piece].views; left != 0; left &= left - 1) {
    const auto view = static_cast<uint32_t>(std::countr_zero(left));
    if (InView(pieces_[next].next, view)) continue;
    const uint32_t first = OtherEnd(next, view);
    OtherEnd(first, view) = piece;
    OtherEnd(piece, view) = first;
  }
  pieces_[piece].size += pieces_[next].size;
  DropPiece(next);
}

}  // namespace graphkit
