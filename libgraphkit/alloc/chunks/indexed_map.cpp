#include "libgraphkit/alloc/chunks/indexed_map.h"

#include <bit>

namespace graphkit {
namespace {

constexpr ViewSlots kNoSlots;

}  // namespace

// A piece that is in one view at most is found by view.
IndexedMap::IndexedMap(const Options& options, size_t blocks)
    : options_(options),
      all_views_(options.views >= kMaxViews ? ~ViewMask{0} : (ViewMask{1} << options.views) - 1),
      pieces_(std::make_unique<std::vector<Piece>>()),
      piece_of_(blocks, kNone),
      by_view_(!options.shared),
      runs_(pieces_.get(), options.views, options.shared),
      listed_(pieces_.get(), options.slots != nullptr ? options.slots : &kNoSlots, all_views_) {
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
  ShowPiece(piece, ViewMask{1} << view);
  JoinAlike(piece);
}

void IndexedMap::PutInSlot(BlockId block, uint8_t slot) {
  const uint32_t piece = piece_of_[block.index()];
  if (piece == kNone) return;
  ChooseIndex();
  if (!Partly(piece)) ++partly_;
  (*pieces_)[piece].slot = slot;
  if (!by_view_) listed_.Update(piece);
}

void IndexedMap::LeaveSlot(BlockId block, ViewMask views) {
  const uint32_t piece = piece_of_[block.index()];
  if (piece == kNone) return;
  ChooseIndex();
  if (Partly(piece)) --partly_;
  (*pieces_)[piece].slot = ViewSlots::kNone;
  if (Partly(piece)) ++partly_;
  ShowPiece(piece, views);
  JoinAlike(piece);
}

// Those beside it reach over it from here on.
void IndexedMap::AddCommon(uint32_t piece) {
  listed_.AddCommon(piece);
  listed_.Reach((*pieces_)[piece].prev);
  listed_.Reach((*pieces_)[piece].next);
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
    ShowPiece(piece, options_.shared ? all_views_ : ViewMask{1} << view);
    if (!by_view_ && listed_.IsCommon(piece)) listed_.AddCommon(piece);
    return RunOf(*pieces_, piece, piece);
  }
  uint32_t first = In(top_, view) ? top_ : kNone;
  while (first != kNone && In((*pieces_)[first].prev, view)) first = (*pieces_)[first].prev;
  added_ = first == kNone ? size : size - (reserved_ - (*pieces_)[first].offset);
  const uint32_t piece = NewPiece(reserved_, added_, false, top_);
  reserved_ += added_;
  ShowPiece(piece, ViewMask{1} << view);
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
    if ((*pieces_)[piece].offset + (*pieces_)[piece].size > end) {
      LeaveRest(piece, end);
    } else {
      LeaveViews(piece);
      Forget(piece);
    }
    const uint32_t next = (*pieces_)[piece].next;
    if (piece != first) {
      (*pieces_)[first].size += (*pieces_)[piece].size;
      DropPiece(piece);
    }
    piece = next;
  }
  (*pieces_)[first].last = block;
  piece_of_[block.index()] = first;
  if (by_view_) return;
  listed_.Reach((*pieces_)[first].prev);
  listed_.Reach((*pieces_)[first].next);
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
  p.slot = ViewSlots::kNone;
  spare_.push_back(piece);
}

void IndexedMap::Forget(uint32_t piece) {
  BlockId& last = (*pieces_)[piece].last;
  if (last.valid() && piece_of_[last.index()] == piece) piece_of_[last.index()] = kNone;
  last = {};
}

// Cuts it in two; the upper one is what is left of the last occupant.
uint32_t IndexedMap::Cut(uint32_t piece, Bytes offset) {
  const Bytes size = (*pieces_)[piece].offset + (*pieces_)[piece].size - offset;
  const uint32_t made = NewPiece(offset, size, (*pieces_)[piece].small, piece);
  Piece& lower = (*pieces_)[piece];
  Piece& upper = (*pieces_)[made];
  lower.size -= size;
  upper.last = lower.last;
  upper.views = lower.views;
  upper.slot = lower.slot;
  lower.last = {};
  if (upper.last.valid() && piece_of_[upper.last.index()] == piece) {
    piece_of_[upper.last.index()] = made;
  }
  if (Partly(made)) ++partly_;
  return made;
}

// Both parts stay in the piece's views.
uint32_t IndexedMap::SplitAt(uint32_t piece, Bytes offset) {
  const bool common = !by_view_ && listed_.IsCommon(piece);
  if (common) listed_.DropCommon(piece);
  const uint32_t upper = Cut(piece, offset);
  if (by_view_) {
    runs_.Split(piece, upper);
  } else if (common) {
    AddCommon(piece);
    AddCommon(upper);
  } else {
    listed_.Update(upper);
    listed_.Reach(piece);
  }
  return upper;
}

// What is behind `end` stays in the piece's views, the piece leaves them.
void IndexedMap::LeaveRest(uint32_t piece, Bytes end) {
  const bool common = !by_view_ && listed_.IsCommon(piece);
  if (common) listed_.DropCommon(piece);
  const uint32_t rest = Cut(piece, end);
  if (by_view_) {
    runs_.Split(piece, rest);
    runs_.Leave(piece);
  } else if (!common) {
    listed_.HandOver(piece, rest);
  }
  if (Partly(piece)) --partly_;
  (*pieces_)[piece].views = 0;
  (*pieces_)[piece].slot = ViewSlots::kNone;
  if (common) AddCommon(rest);
}

// The piece that begins there; by address.
uint32_t IndexedMap::PieceFrom(Bytes offset) {
  const auto at = by_address_.LowerBound({offset, kNone});
  if (at != by_address_.end() && by_address_[at].offset == offset) return by_address_[at].piece;
  return SplitAt(by_address_[by_address_.previous(at)].piece, offset);
}

void IndexedMap::ShowPiece(uint32_t piece, ViewMask views) {
  Piece& p = (*pieces_)[piece];
  if (Partly(piece)) --partly_;
  if (by_view_) {
    for (ViewMask left = views & ~p.views; left != 0; left &= left - 1) {
      runs_.Show(piece, static_cast<uint32_t>(std::countr_zero(left)));
    }
  } else {
    p.views |= views;
    listed_.Update(piece);
  }
  if (Partly(piece)) ++partly_;
}

// Each index is built anew when it is chosen; that is seldom, as the numbers lie apart.
void IndexedMap::ChooseIndex() {
  if (!options_.shared) return;
  if (!by_view_ && partly_ > options_.max_listed) {
    FindByView();
  } else if (by_view_ && partly_ < options_.max_listed / 4) {
    runs_.Clear();
    listed_.Build();
    by_view_ = false;
  }
}

void IndexedMap::FindByView() {
  listed_.Clear();
  for (uint32_t piece = 0; options_.slots != nullptr && piece < pieces_->size(); ++piece) {
    if (Partly(piece)) --partly_;
    (*pieces_)[piece].views |= options_.slots->views[(*pieces_)[piece].slot];
    if (Partly(piece)) ++partly_;
  }
  runs_.Build();
  by_view_ = true;
}

void IndexedMap::LeaveViews(uint32_t piece) {
  Piece& p = (*pieces_)[piece];
  if (Partly(piece)) --partly_;
  if (by_view_) {
    runs_.Leave(piece);
  } else if (listed_.IsCommon(piece)) {
    listed_.DropCommon(piece);
  }
  p.views = 0;
  p.slot = ViewSlots::kNone;
  if (!by_view_) listed_.Update(piece);
}

// Whether both are in every view that they will ever be in, and in the same ones.
bool IndexedMap::Alike(uint32_t piece, uint32_t next) const {
  if (piece == kNone || next == kNone) return false;
  const ViewMask views = (*pieces_)[piece].views;
  if (views == 0 || views != (*pieces_)[next].views) return false;
  return !options_.shared || views == all_views_;
}

// Makes it one piece with neighbours that it will never differ from.
void IndexedMap::JoinAlike(uint32_t piece) {
  if (options_.shared && !listed_.IsCommon(piece)) return;
  const uint32_t next = (*pieces_)[piece].next;
  const uint32_t prev = (*pieces_)[piece].prev;
  if (Alike(piece, next)) {
    if (!by_view_) listed_.DropCommon(next);
    Absorb(piece, next);
  }
  uint32_t joined = piece;
  if (Alike(prev, piece)) {
    if (!by_view_) listed_.DropCommon(prev);
    Absorb(prev, piece);
    joined = prev;
  }
  if (!by_view_) AddCommon(joined);
}

void IndexedMap::Absorb(uint32_t piece, uint32_t next) {
  Forget(piece);
  Forget(next);
  if (by_view_) runs_.Absorb(piece, next);
  (*pieces_)[piece].size += (*pieces_)[next].size;
  (*pieces_)[piece].slot = ViewSlots::kNone;
  DropPiece(next);
}

}  // namespace graphkit
