// The slow reference of alloc/chunks/indexed_map.h: where blocks lie, and who lay last where none
// lies now. A request takes the smallest stretch of pieces that it may have and that
// holds it, the lowest of equals.
//
//     last occupant   | a    | b | c (live) | d   |        e may follow a and b: takes their 2
//     pieces
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "libgraphkit/ids.h"
#include "libgraphkit/model/caching_config.h"
#include "libgraphkit/units.h"

namespace graphkit {

class PieceMap {
 public:
  // True if the request may lie where `last` lay; for memory where none lay, `last` is none and
  // `owner` the stream whose request made the segment.
  using MayTake = std::function<bool(BlockId last, StreamId owner)>;

  // Without `config` one stretch of memory that grows at its top; with it segments by the rules of
  // the caching allocator.
  explicit PieceMap(std::optional<CachingConfig> config = {}) : config_(config) {}

  // With segments: free memory of one that others lie in, and where the next segment may begin.
  void AddHole(Bytes offset, Bytes size, bool small, StreamId owner) {
    segments_.push_back({owner, small, {{offset, size, {}}}});
  }
  void BeginAt(Bytes offset) { next_ = offset; }

  // `size`: rounded. Segments lie one after the other, at multiples of 2 MiB.
  Bytes Place(BlockId block, Bytes size, StreamId stream, const MayTake& may_take);

  // Bytes of the segments; without segments the highest byte used.
  Bytes reserved() const { return reserved_; }
  // The last request's part of that.
  Bytes added() const { return added_; }
  // True if a stretch of such bytes could be taken.
  bool Fits(Bytes size, const MayTake& may_take) const {
    return Find(size, may_take).segment != kNoSegment;
  }

 private:
  static constexpr uint32_t kNoSegment = 0xffffffffu;

  struct Piece {
    Bytes offset = 0;
    Bytes size = 0;
    BlockId last;
  };
  struct Segment {
    StreamId owner;
    bool small = false;
    std::vector<Piece> pieces;
  };
  struct Stretch {
    uint32_t segment = kNoSegment;
    size_t first = 0;
    size_t count = 0;
    Bytes size = 0;
  };

  Stretch Find(Bytes size, const MayTake& may_take) const;
  Stretch Grow(Bytes size, StreamId stream, const MayTake& may_take);
  Bytes Take(const Stretch& stretch, BlockId block, Bytes size);
  bool KeepsRest(const Segment& segment, Bytes rest) const;

  std::optional<CachingConfig> config_;
  std::vector<Segment> segments_;
  Bytes reserved_ = 0;
  Bytes added_ = 0;
  Bytes next_ = 0;  // where the next segment goes
};

inline Bytes PieceMap::Place(BlockId block, Bytes size, StreamId stream, const MayTake& may_take) {
  added_ = 0;
  Stretch stretch = Find(size, may_take);
  if (stretch.segment == kNoSegment) stretch = Grow(size, stream, may_take);
  return Take(stretch, block, size);
}

inline PieceMap::Stretch PieceMap::Find(Bytes size, const MayTake& may_take) const {
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
inline PieceMap::Stretch PieceMap::Grow(Bytes size, StreamId stream, const MayTake& may_take) {
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

inline bool PieceMap::KeepsRest(const Segment& segment, Bytes rest) const {
  if (!config_ || segment.small) return rest > 0;
  return rest > config_->small_size;
}

// The stretch becomes the block, and where it is worth it a rest with its last occupants.
inline Bytes PieceMap::Take(const Stretch& stretch, BlockId block, Bytes size) {
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
