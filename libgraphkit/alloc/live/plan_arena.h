// Memory in which blocks lie where a plan says, and who lies or lay where. No plan is trusted: a
// block goes to its place only if all who lay there may be followed.
//
//     offsets   0        4        8             c is planned at 2 to 6: allowed if both a and b,
//               |   a    |   b    |             freed, are known to be over
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "libgraphkit/ids.h"
#include "libgraphkit/units.h"

namespace graphkit {

class PlanArena {
 public:
  PlanArena(Address address, Bytes size) : address_(address), size_(size) {}

  // Puts the block at the offset. False, and nothing changes: it doesn't fit in, or one who lay
  // there last may not be followed.
  using MayFollow = std::function<bool(BlockId last)>;
  bool Take(Bytes offset, Bytes size, BlockId block, const MayFollow& may_follow);

  Address address() const { return address_; }
  Bytes size() const { return size_; }

 private:
  struct Piece {
    Bytes end = 0;
    BlockId last;
  };
  void Cut(Bytes offset);

  Address address_;
  Bytes size_;
  std::map<Bytes, Piece> pieces_;  // by offset; where no block lay there is none
};

}  // namespace graphkit
