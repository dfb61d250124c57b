#include "libgraphkit/alloc/chunks/piece_map.h"

namespace graphkit {

Bytes PieceMap::Place(BlockId block, Bytes size, StreamId stream, const MayTake& may_take) {
  added_ = 0;
  Stretch stretch = Find(size, may_take);
  if (stretch.segment == kNoSegment) stretch = Grow(size, stream, may_take);
  return Take(stretch, block, size);
}

PieceMap::Stretch PieceMap::Find(Bytes size, const MayTake& may_take) const {
  Stretch best;
  for (uint32_t s = 0; s < segments_.size(); ++s) {
    const Segment& segment = segments_[s];
    if (config_ && segment.small != IsSmall(*config_, size)) continue;
    Stretch run{s};
    const auto close = [&] {
      const bool better = best.segment == kNoSegment || run.size < best.size;
      if (run.size >= size && better) best = run;
    };
    for (size_t i = 0; i < segment.pieces.size(); ++i) {
      const Piece& piece = segment.pieces[i];
      if (may_take(piece.last, segment.owner)) {
        if (run.count++ == 0) run.first = i;
        run.size += piece.size;
      } else {
        close();
        run = {s};
      }
    }
    close();
  }
  return best;
}

// A segment of its own; without segments, what may be taken at the top and more above it.
PieceMap::Stretch PieceMap::Grow(Bytes size, StreamId stream, const MayTake& may_take) {
  if (config_) {
    added_ = SegmentSize(*config_, size);
    segments_.push_back({stream, IsSmall(*config_, size), {{next_, added_, {}}}});
    next_ += RoundUp(added_, kSegmentAlignment);
    reserved_ += added_;
    return {static_cast<uint32_t>(segments_.size() - 1), 0, 1, added_};
  }
  if (segments_.empty()) segments_.push_back({stream, false, {}});
  std::vector<Piece>& pieces = segments_[0].pieces;
  Stretch top{0, pieces.size(), 0, 0};
  while (top.first > 0 && may_take(pieces[top.first - 1].last, segments_[0].owner)) {
    top.size += pieces[--top.first].size;
    ++top.count;
  }
  added_ = size - top.size;
  pieces.push_back({reserved_, added_, {}});
  reserved_ += added_;
  return {0, top.first, top.count + 1, size};
}

bool PieceMap::KeepsRest(const Segment& segment, Bytes rest) const {
  if (!config_ || segment.small) return rest > 0;
  return rest > config_->small_size;
}

// The stretch becomes the block, and where it is worth it a rest with its last occupants.
Bytes PieceMap::Take(const Stretch& stretch, BlockId block, Bytes size) {
  Segment& segment = segments_[stretch.segment];
  std::vector<Piece>& pieces = segment.pieces;
  const Bytes offset = pieces[stretch.first].offset;
  const bool split = KeepsRest(segment, stretch.size - size);
  const Bytes end = offset + (split ? size : stretch.size);
  size_t covered = stretch.first;
  while (covered < pieces.size() && pieces[covered].offset + pieces[covered].size <= end) ++covered;
  if (covered < pieces.size() && pieces[covered].offset < end) {
    pieces[covered].size -= end - pieces[covered].offset;
    pieces[covered].offset = end;
  }
  const Piece made{offset, end - offset, block};
  const auto first = pieces.begin() + static_cast<std::ptrdiff_t>(stretch.first);
  if (covered == stretch.first) {
    pieces.insert(first, made);
  } else {
    *first = made;
    pieces.erase(first + 1, pieces.begin() + static_cast<std::ptrdiff_t>(covered));
  }
  return offset;
}

}  // namespace graphkit
