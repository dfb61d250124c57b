// Order of blocks: those that may lie where others lay.
//
// *X before Y* (Y may take X's memory): every marker of X is complete before Y may be touched, that
// is before Y's alloc point and before each node that touches Y without being after that point.
// A strict partial order on the blocks of a graph; two blocks that it doesn't order conflict.
// Blocks of different bodies of one conditional don't conflict: the body that comes first counts as
// before. A block that isn't freed before its capture ends is before nothing. See docs/memory.md.
#pragma once

#include "libgraphkit/analysis/memory/lifetimes.h"
#include "libgraphkit/analysis/order/order.h"
#include "libgraphkit/model/finding.h"
#include "libgraphkit/model/trace.h"

namespace graphkit {

// A view: trace, order and lifetimes must outlive it.
class BlockOrder {
 public:
  BlockOrder(const Trace& trace, const Order& order, const Lifetimes& lives, MarkerRule rule)
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
  const Trace& trace() const { return trace_; }

 private:
  int ExclusiveBodies(BlockId x, BlockId y) const;  // of the graphs of both
  bool Later(BlockId x, Seq seq) const;

  const Trace& trace_;
  const Order& order_;
  const Lifetimes& lives_;
  MarkerRule rule_;
};

}  // namespace graphkit
