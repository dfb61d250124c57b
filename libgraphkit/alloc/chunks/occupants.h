// Who lay where last, in memory that is handed on from block to block.
#pragma once

#include "libgraphkit/ids.h"
#include "libgraphkit/interval_map.h"

namespace graphkit {

class Occupants {
 public:
  // Calls `visit(block, begin, end)` for each that lay in [begin, end), from below, until it says
  // false; then this does.
  template <typename Body>
  bool Visit(Bytes begin, Bytes end, const Body& visit) const {
    return ranges_.Visit({begin, end}, [&](const auto& entry) {
      const auto& [range, block] = entry;
      return visit(block, std::max(range.begin, begin), std::min(range.end, end));
    });
  }

  void Put(BlockId block, Bytes begin, Bytes end) { ranges_.Add({begin, end}, block); }

 private:
  IntervalMap<BlockId> ranges_;  // where no block lay there is none
};

}  // namespace graphkit
