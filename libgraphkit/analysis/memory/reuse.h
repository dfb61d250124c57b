// Blocks that could have lain where earlier ones lay, and didn't.
//
// Idle memory is a block that is over and whose addresses none takes afterwards; a fresh block is
// one that lies where nothing lay before. Each fresh block is given the best idle one that is
// before it, large enough, and not given away yet. The pairs can all be done at once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libgraphkit/analysis/memory/block_order.h"
#include "libgraphkit/model/report.h"

namespace graphkit {

struct ReuseFacts {
  std::vector<ReusePair> pairs;  // the largest first
  Bytes bytes = 0;               // of all of them
  bool operator==(const ReuseFacts&) const = default;
};

// `later` lies where `earlier` lay last, at least in part.
struct BlockOverlap {
  BlockId earlier;
  BlockId later;
  auto operator<=>(const BlockOverlap&) const = default;
};
// Of blocks of one root graph, ascending: by the later block, then by the earlier one.
std::vector<BlockOverlap> FindOverlaps(const Trace& trace, std::span<const BlockId> blocks);

// `blocks`: of one root graph, ascending; `overlaps`: theirs. Only blocks that an allocator of the
// program hands out count: the driver's own reuse isn't seen in addresses.
ReuseFacts FindReuse(const BlockOrder& order, std::span<const BlockId> blocks,
                     std::span<const BlockOverlap> overlaps);

}  // namespace graphkit
