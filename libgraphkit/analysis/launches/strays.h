// Accesses to memory of a segment where no block lay then: by address, and what a launch finds
// there.
//
//     segment    | block a, then b |     idle    |
//     access            [------------]                 recorded with the segment's memory
//     of unknown length [----------]                   as far as the longest block that ever lay
//     there
#pragma once

#include <vector>

#include "libgraphkit/analysis/facts.h"
#include "libgraphkit/analysis/memory/first_writes.h"
#include "libgraphkit/interval_map.h"

namespace graphkit {

class StrayAccesses {
 public:
  explicit StrayAccesses(const Facts& facts, const FirstWrites& writes);

  // One of unknown length ends with its block; where none lay, with the longest one of a capture
  // that ever did, or with the segment.
  Interval<Address> BytesOf(const Access& access) const;

  // Calls visit(block, bytes) for all blocks that ever lay in some bytes, but for the memory of
  // segments, with the addresses that both have.
  template <typename Visit>
  void ForEachBlockIn(Interval<Address> bytes, Visit visit) const {
    blocks_.Visit(bytes, [&](Interval<Address> own, BlockId id) { visit(id, Common(own, bytes)); });
  }

  // Of a node's access to memory that no capture allocated: what it reads and its launch hasn't
  // surely written before.
  std::vector<Interval<Address>> FoundBy(NodeId node, const Access& access) const;

 private:
  const Facts& facts_;
  const FirstWrites& writes_;
  RangeIndex<BlockId> blocks_;
};

}  // namespace graphkit
