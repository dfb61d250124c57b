// Who lay where last, in memory that is handed on from block to block.
//
//     offsets   0        4        8             c at 2 to 6 follows a and b
//               |   a    |   b    |      →      | a |   c   | b |
#pragma once

#include <algorithm>
#include <iterator>
#include <map>

#include "libgraphkit/ids.h"
#include "libgraphkit/units.h"

namespace graphkit {

class Occupants {
 public:
  // Calls `visit(block, begin, end)` for each that lay in [begin, end), from below, until it says
  // false; then this does.
  template <typename Body>
  bool Visit(Bytes begin, Bytes end, const Body& visit) const {
    auto at = ranges_.upper_bound(begin);
    if (at != ranges_.begin() && std::prev(at)->second.end > begin) --at;
    for (; at != ranges_.end() && at->first < end; ++at) {
      const auto& [first, range] = *at;
      if (!visit(range.block, std::max(first, begin), std::min(range.end, end))) return false;
    }
    return true;
  }

  void Put(BlockId block, Bytes begin, Bytes end) {
    Cut(begin);
    Cut(end);
    ranges_.erase(ranges_.lower_bound(begin), ranges_.lower_bound(end));
    ranges_[begin] = {end, block};
  }

 private:
  struct Range {
    Bytes end = 0;
    BlockId block;
  };

  // No range crosses the offset afterwards.
  void Cut(Bytes offset) {
    const auto after = ranges_.lower_bound(offset);
    if (after == ranges_.begin()) return;
    const auto inside = std::prev(after);
    if (inside->second.end <= offset) return;
    ranges_.emplace_hint(after, offset, inside->second);
    inside->second.end = offset;
  }

  std::map<Bytes, Range> ranges_;  // by begin; where no block lay there is none
};

}  // namespace graphkit
