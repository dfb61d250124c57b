// Memory cut into pieces. A view is a stream that allocates; a piece that is free is in the
// views that may take it, and neighbours in one view are one run of it.
//
//     pieces    |  a  | b | c (held) |   d   | e |        a, b and d are in view 0,
//     view 0    [   ab    ]          [   d   ]            b, d and e in view 1
//     view 1          [ b ]          [    de     ]
#pragma once

#include <cstdint>
#include <vector>

#include "libgraphkit/alloc/chunks/run_set.h"
#include "libgraphkit/alloc/chunks/view_slots.h"
#include "libgraphkit/ids.h"
#include "libgraphkit/units.h"

namespace graphkit {

inline constexpr Bytes kSegmentAlignment = Bytes{2} << 20;  // where segments begin

struct Piece {
  static constexpr uint32_t kNone = 0xffffffffu;
  static constexpr uint8_t kNotListed = 0xff;

  Bytes offset = 0;
  Bytes size = 0;
  uint32_t prev = kNone;  // neighbours in the segment
  uint32_t next = kNone;
  BlockId last;  // who lies or lay there; none: it no longer matters
  bool small = false;
  uint8_t slot = ViewSlots::kNone;  // whose views it is in as well
  uint8_t listed = kNotListed;      // its entry in the list of those that are in some views only
  ViewMask views = 0;

  bool In(uint32_t view) const { return (views >> view & 1) != 0; }
};

inline bool InView(const std::vector<Piece>& pieces, uint32_t piece, uint32_t view) {
  return piece != Piece::kNone && pieces[piece].In(view);
}

inline uint32_t UnitsOf(Bytes size) { return static_cast<uint32_t>(size / kBlockGranularity); }

inline Run RunOf(const std::vector<Piece>& pieces, uint32_t first, uint32_t last) {
  const Bytes begin = pieces[first].offset;
  return {UnitsOf(pieces[last].offset + pieces[last].size - begin), first, begin};
}

}  // namespace graphkit
