// Which views may take the blocks that were freed last. All maps that these blocks lie in look
// here, so that what a view gets to know is written down once, not once for each piece.
//
//     slot       0        1        2            a piece of z may be taken by the views of its own
//     block      x        z                     and by view 1
//     views    {0, 2}    {1}
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "libgraphkit/ids.h"

namespace graphkit {

using ViewMask = uint64_t;  // a bit a view
using SlotMask = uint64_t;  // a bit a slot

struct ViewSlots {
  static constexpr uint8_t kSlots = 64;
  static constexpr uint8_t kNone = kSlots;

  std::array<ViewMask, kSlots + 1> views{};  // by slot; of none: no view
  std::array<BlockId, kSlots> blocks;        // by slot
};

// What a free or a malloc has changed in the slots.
struct SlotChanges {
  struct Left {
    BlockId block;
    ViewMask views = 0;  // that may take it from here on
  };
  std::vector<Left> left;      // blocks that are in no slot any more
  SlotMask found = 0;          // slots that the malloc's view has got, but for those left
  SlotMask first = 0;          // of these, those that have got no view before
  std::vector<BlockId> fresh;  // blocks whose slots had no view before, also those that left
};

}  // namespace graphkit
