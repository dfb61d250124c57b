// Memory in which blocks lie where a plan says. No plan is trusted: a block goes to its place only
// if all who lay there may be followed.
#pragma once

#include "libgraphkit/alloc/chunks/occupants.h"
#include "libgraphkit/ids.h"
#include "libgraphkit/units.h"

namespace graphkit {

class PlanArena {
 public:
  PlanArena(Address address, Bytes size) : address_(address), size_(size) {}

  // Puts the block at the offset. False, and nothing changes: it doesn't fit in, or one who lay
  // there last may not be followed (`may_follow(last)`).
  template <typename MayFollow>
  bool Take(Bytes offset, Bytes size, BlockId block, const MayFollow& may_follow) {
    if (offset > size_ || size > size_ - offset) return false;
    const auto visit = [&](BlockId last, Bytes, Bytes) { return may_follow(last); };
    if (!occupants_.Visit(offset, offset + size, visit)) return false;
    occupants_.Put(block, offset, offset + size);
    return true;
  }

  Address address() const { return address_; }
  Bytes size() const { return size_; }

 private:
  Address address_;
  Bytes size_;
  Occupants occupants_;
};

}  // namespace graphkit
