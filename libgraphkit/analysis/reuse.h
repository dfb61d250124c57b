// Blocks that could have lain where earlier ones lay, and didn't.
//
// Idle memory is a block that is over and whose addresses nobody takes afterwards; a fresh block is
// one that lies where nothing lay before. Each fresh block is given the best idle one that is
// before it, large enough, and not given away yet. The pairs can all be done at once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libgraphkit/analysis/block_order.h"
#include "libgraphkit/model/report.h"

namespace graphkit {

struct ReuseFacts {
  std::vector<ReusePair> pairs;  // the largest first
  Bytes bytes = 0;               // of all of them
  bool operator==(const ReuseFacts&) const = default;
};

// `blocks`: of one root graph, ascending. Only blocks that an allocator of the program hands out
// count: the driver's own reuse isn't seen in addresses.
ReuseFacts FindReuse(const BlockOrder& order, std::span<const BlockId> blocks);

// For each block the one that lay at its first address before it, in the same graph; none: fresh.
// `overlapping` gets every (earlier, later) pair of which later lies where earlier lay last.
struct Overlap {
  BlockId earlier;
  BlockId later;
  bool operator==(const Overlap&) const = default;
};
std::vector<Overlap> FindOverlaps(const Trace& trace, std::span<const BlockId> blocks);

}  // namespace graphkit
