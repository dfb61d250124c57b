#include "libgraphkit/alloc/chunks/indexed_map.h"

namespace graphkit {
// A piece that is in one view at most is found by view.
IndexedMap::IndexedMap(const Options& options, size_t blocks)
    : options_(options),
      all_views_(options.views >= kMaxViews ? ~ViewMask{0} : (ViewMask{1} << options.views) - 1),
      pieces_(std::make_unique<std::vector<Piece>>()),
      piece_of_(blocks, kNone),
      by_view_(!options.shared),
      runs_(pieces_.get(), options.views, options.shared),
      listed_(pieces_.get(), all_views_) {
  if (by_view_) runs_.Build();
}

Bytes IndexedMap::Place(BlockId block, Bytes size, uint32_t view) {
  added_ = 0;
  ChooseIndex();
  Run run = FindRun(size, view);
  if (run.first == kNone) run = Grow(size, view);
  const Bytes available = run.size * kBlockGranularity;
  const bool split = KeepsRest((*pieces_)[run.first].small, available - size);
  Take(run.first, block, run.offset + (split ? size : available));
  return run.offset;
}

void IndexedMap::PlaceAt(BlockId block, Bytes offset, Bytes size) {
  added_ = 0;
  ChooseIndex();
  if (offset + size > reserved_) {
    added_ = offset + size - reserved_;
    NewPiece(reserved_, added_, false, top_);
    reserved_ += added_;
  }
  Take(PieceFrom(offset), block, offset + size);
}

void IndexedMap::Show(BlockId block, uint32_t view) {
  const uint32_t piece = piece_of_[block.index()];
  if (piece == kNone || (*pieces_)[piece].In(view)) return;
  ChooseIndex();
  ShowPiece(piece, view);
  const uint32_t joined = JoinAlike(piece);
  if (!by_view_ && listed_.IsCommon(joined)) listed_.AddCommon(joined);
}

bool IndexedMap::Fits(Bytes size, uint32_t view) const {
  return FindRun(size, view).first != kNone;
}

Run IndexedMap::FindRun(Bytes size, uint32_t view) const {
  const bool small = SmallRequest(size);
  return by_view_ ? runs_.Find(UnitsOf(size), small, view)
                  : listed_.Find(UnitsOf(size), small, view);
}

// A segment of its own; without segments, what may be taken at the top and more above it.
Run IndexedMap::Grow(Bytes size, uint32_t view) {
  if (options_.config) {
    added_ = SegmentSize(*options_.config, size);
    const uint32_t piece = NewPiece(next_, added_, SmallRequest(size), kNone);
    next_ += RoundUp(added_, kSegmentAlignment);
    reserved_ += added_;
    for (uint32_t v = 0; v < options_.views; ++v) {
      if (v == view || options_.shared) ShowPiece(piece, v);
    }
    if (!by_view_ && listed_.IsCommon(piece)) listed_.AddCommon(piece);
    return RunOf(*pieces_, piece, piece);
  }
  uint32_t first = In(top_, view) ? top_ : kNone;
  while (first != kNone && In((*pieces_)[first].prev, view)) first = (*pieces_)[first].prev;
  added_ = first == kNone ? size : size - (reserved_ - (*pieces_)[first].offset);
  const uint32_t piece = NewPiece(reserved_, added_, false, top_);
  reserved_ += added_;
  ShowPiece(piece, view);
  if (!by_view_ && listed_.IsCommon(piece)) listed_.AddCommon(piece);
  return RunOf(*pieces_, first == kNone ? piece : first, piece);
}

bool IndexedMap::KeepsRest(bool small, Bytes rest) const {
  if (!options_.config || small) return rest > 0;
  return rest > options_.config->small_size;
}

// From the start of the piece `first` up to `end` becomes the block; the rest of the last piece
// stays as it was.
void IndexedMap::Take(uint32_t first, BlockId block, Bytes end) {
  for (uint32_t piece = first; piece != kNone && (*pieces_)[piece].offset < end;) {
    if ((*pieces_)[piece].offset + (*pieces_)[piece].size > end) SplitAt(piece, end);
    const uint32_t next = (*pieces_)[piece].next;
    LeaveViews(piece);
    Forget(piece);
    if (piece != first) {
      (*pieces_)[first].size += (*pieces_)[piece].size;
      DropPiece(piece);
    }
    piece = next;
  }
  (*pieces_)[first].last = block;
  piece_of_[block.index()] = first;
}

// After another one of its segment, or as the first of one.
uint32_t IndexedMap::NewPiece(Bytes offset, Bytes size, bool small, uint32_t after) {
  std::vector<Piece>& pieces = *pieces_;
  uint32_t piece = static_cast<uint32_t>(pieces.size());
  if (spare_.empty()) {
    pieces.emplace_back();
  } else {
    piece = spare_.back();
    spare_.pop_back();
  }
  const uint32_t next = after == kNone ? kNone : pieces[after].next;
  pieces[piece] = {
      .offset = offset, .size = size, .prev = after, .next = next, .last = {}, .small = small};
  if (after != kNone) pieces[after].next = piece;
  if (next != kNone) pieces[next].prev = piece;
  if (next == kNone) top_ = piece;
  if (options_.by_address) by_address_.Insert({offset, piece});
  return piece;
}

// Its memory belongs to the piece before it.
void IndexedMap::DropPiece(uint32_t piece) {
  Piece& p = (*pieces_)[piece];
  (*pieces_)[p.prev].next = p.next;
  if (p.next != kNone) (*pieces_)[p.next].prev = p.prev;
  if (top_ == piece) top_ = p.prev;
  if (options_.by_address) by_address_.Erase({p.offset, piece});
  p.views = 0;
  if (options_.shared) listed_.Update(piece);
  spare_.push_back(piece);
}

void IndexedMap::Forget(uint32_t piece) {
  BlockId& last = (*pieces_)[piece].last;
  if (last.valid() && piece_of_[last.index()] == piece) piece_of_[last.index()] = kNone;
  last = {};
}

// Both parts stay in the piece's views; the upper one is what is left of the last occupant.
uint32_t IndexedMap::SplitAt(uint32_t piece, Bytes offset) {
  const bool common = !by_view_ && listed_.IsCommon(piece);
  if (common) listed_.DropCommon(piece);
  const Bytes size = (*pieces_)[piece].offset + (*pieces_)[piece].size - offset;
  const uint32_t upper = NewPiece(offset, size, (*pieces_)[piece].small, piece);
  Piece& lower = (*pieces_)[piece];
  lower.size -= size;
  const BlockId last = lower.last;
  lower.last = {};
  (*pieces_)[upper].last = last;
  (*pieces_)[upper].views = lower.views;
  if (last.valid() && piece_of_[last.index()] == piece) piece_of_[last.index()] = upper;
  if (by_view_) runs_.Split(piece, upper);
  if (options_.shared) listed_.Update(upper);
  if (common) listed_.AddCommon(piece);
  if (common) listed_.AddCommon(upper);
  return upper;
}

// The piece that begins there; by address.
uint32_t IndexedMap::PieceFrom(Bytes offset) {
  const auto at = by_address_.LowerBound({offset, kNone});
  if (at != by_address_.end() && by_address_[at].offset == offset) return by_address_[at].piece;
  return SplitAt(by_address_[by_address_.previous(at)].piece, offset);
}

void IndexedMap::ShowPiece(uint32_t piece, uint32_t view) {
  if (by_view_) {
    runs_.Show(piece, view);
  } else {
    (*pieces_)[piece].views |= ViewMask{1} << view;
  }
  if (options_.shared) listed_.Update(piece);
}

// Each index is built anew when it is chosen; that is seldom, as the numbers lie apart.
void IndexedMap::ChooseIndex() {
  if (!options_.shared) return;
  if (!by_view_ && listed_.size() > options_.max_listed) {
    listed_.ForgetCommon();
    runs_.Build();
    by_view_ = true;
  } else if (by_view_ && listed_.size() < options_.max_listed / 4) {
    runs_.Clear();
    listed_.BuildCommon();
    by_view_ = false;
  }
}

void IndexedMap::LeaveViews(uint32_t piece) {
  Piece& p = (*pieces_)[piece];
  if (by_view_) {
    runs_.Leave(piece);
  } else if (listed_.IsCommon(piece)) {
    listed_.DropCommon(piece);
  }
  p.views = 0;
  if (options_.shared) listed_.Update(piece);
}

// Whether both are in every view that they will ever be in, and in the same ones.
bool IndexedMap::Alike(uint32_t piece, uint32_t next) const {
  if (piece == kNone || next == kNone) return false;
  const ViewMask views = (*pieces_)[piece].views;
  if (views == 0 || views != (*pieces_)[next].views) return false;
  return !options_.shared || views == all_views_;
}

// Returns the piece that it is a part of then.
uint32_t IndexedMap::JoinAlike(uint32_t piece) {
  const uint32_t next = (*pieces_)[piece].next;
  const uint32_t prev = (*pieces_)[piece].prev;
  if (Alike(piece, next)) {
    if (!by_view_) listed_.DropCommon(next);
    Absorb(piece, next);
  }
  if (!Alike(prev, piece)) return piece;
  if (!by_view_) listed_.DropCommon(prev);
  Absorb(prev, piece);
  return prev;
}

void IndexedMap::Absorb(uint32_t piece, uint32_t next) {
  Forget(piece);
  Forget(next);
  if (by_view_) runs_.Absorb(piece, next);
  (*pieces_)[piece].size += (*pieces_)[next].size;
  DropPiece(next);
}

}  // namespace graphkit
