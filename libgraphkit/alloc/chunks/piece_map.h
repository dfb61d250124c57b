// Where blocks lie, and who lay last where none lies now: memory that is handed on by a rule that
// decides pair by pair. A request takes the smallest stretch of pieces that it may have and that
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

}  // namespace graphkit
