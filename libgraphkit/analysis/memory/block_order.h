// Order of blocks: those that may lie where others lay.
//
// *X before Y* (Y may take X's memory): every marker of X is complete before Y may be touched, that
// is before Y's alloc point and before each node that touches Y without being after that point.
// A strict partial order on the blocks of a graph; two blocks that it doesn't order conflict.
// Blocks of different bodies of one conditional don't conflict: the body that comes first counts as
// before. A block that isn't freed before its capture ends is before nothing. See docs/memory.md.
#pragma once

#include <span>
#include <vector>

#include "libgraphkit/analysis/memory/lifetimes.h"
#include "libgraphkit/analysis/order/order.h"
#include "libgraphkit/model/finding.h"
#include "libgraphkit/model/report.h"
#include "libgraphkit/ran/ran.h"

namespace graphkit {

// A view: trace, order and lifetimes must outlive it.
class BlockOrder {
 public:
  BlockOrder(const Ran& trace, const Order& order, const Lifetimes& lives, MarkerRule rule)
      : trace_(trace), order_(order), lives_(lives), rule_(rule) {}

  // y may take x's memory.
  bool Before(BlockId x, BlockId y) const;
  bool Conflict(BlockId x, BlockId y) const { return !Before(x, y) && !Before(y, x); }
  // True if anything can be after x.
  bool Dies(BlockId x) const;
  // True if a node at this point comes after all of x.
  bool DiesBefore(BlockId x, const OrderPoint& point) const;
  // True if a node runs after all of x; whether it has ended before y may be touched.
  bool DoneBefore(BlockId x, NodeId node) const;
  bool StartsAfter(BlockId y, NodeId node) const;
  // Prefetches what Before() looks at, of a block that is soon to be put on either side.
  void Fetch(BlockId block) const;
  // The assumption of a proof that x is before something.
  Assumption Assumes(BlockId x) const;

  MarkerRule rule() const { return rule_; }
  const Order& order() const { return order_; }
  const Lifetimes& lives() const { return lives_; }
  const Ran& trace() const { return trace_; }

 private:
  int ExclusiveBodies(BlockId x, BlockId y) const;  // of the graphs of both
  bool Later(BlockId x, Seq seq) const;

  const Ran& trace_;
  const Order& order_;
  const Lifetimes& lives_;
  MarkerRule rule_;
};

// Blocks that could have lain where earlier ones lay, and didn't.
//
// Idle memory is a block that is over and whose addresses none takes afterwards; a fresh block is
// one that lies where nothing lay before. Each fresh block is given the best idle one that is
// before it, large enough, and not given away yet. The pairs can all be done at once.

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
std::vector<BlockOverlap> FindOverlaps(const Ran& trace, std::span<const BlockId> blocks);

// `blocks`: of one root graph, ascending; `overlaps`: theirs. Only blocks that an allocator of the
// program hands out count: the driver's own reuse isn't seen in addresses.
ReuseFacts FindReuse(const BlockOrder& order, std::span<const BlockId> blocks,
                     std::span<const BlockOverlap> overlaps);

}  // namespace graphkit
