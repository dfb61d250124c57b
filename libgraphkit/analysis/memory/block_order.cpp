#include "libgraphkit/analysis/memory/block_order.h"

#include <algorithm>

#include "libgraphkit/analysis/order/topology.h"

namespace graphkit {

bool BlockOrder::Dies(BlockId x) const {
  const BlockLife& life = lives_[x];
  if (!life.root.valid() || !life.freed || life.elsewhere) return false;
  return !life.foreign || (rule_ == MarkerRule::kLastUse && !life.escaped);
}

bool BlockOrder::DiesBefore(BlockId x, const OrderPoint& point) const {
  const std::span<const NodeId> markers = lives_.Markers(x, rule_);
  const bool after =
      std::ranges::all_of(markers, [&](NodeId marker) { return order_.Before(marker, point); });
  if (!after || (!markers.empty() && !lives_.ByStreams(x, rule_))) return after;
  return order_.Covers(point, lives_[x].alloc);
}

// True if something at `seq` comes after x as far as calls go: a free counts as a use at its place,
// and so does the allocation of a block that no node touches.
bool BlockOrder::Later(BlockId x, Seq seq) const {
  if (lives_.ByStreams(x, rule_)) return trace_[x].free_requested < seq;
  return !lives_[x].last_use.empty() || trace_[x].allocated < seq;
}

int BlockOrder::ExclusiveBodies(BlockId x, BlockId y) const {
  if (lives_[x].leaves || lives_[y].leaves) return 0;
  return graphkit::ExclusiveBodies(trace_, lives_[x].alloc.graph, lives_[y].alloc.graph);
}

bool BlockOrder::Before(BlockId x, BlockId y) const {
  if (x == y || lives_[x].root != lives_[y].root || !Dies(x)) return false;
  const OrderPoint& alloc = lives_[y].alloc;
  if (lives_[x].alloc.graph != alloc.graph) {
    if (const int bodies = ExclusiveBodies(x, y); bodies != 0) return bodies > 0;
  }
  return Later(x, trace_[y].allocated) && DiesBefore(x, alloc) &&
         std::ranges::all_of(lives_.EarlyNodes(y, rule_), [&](NodeId node) {
           return Later(x, trace_[node].seq) && DiesBefore(x, order_.StartOf(node));
         });
}

bool BlockOrder::DoneBefore(BlockId x, NodeId node) const {
  return Dies(x) && Later(x, trace_[node].seq) && DiesBefore(x, order_.StartOf(node));
}

bool BlockOrder::StartsAfter(BlockId y, NodeId node) const {
  return order_.Before(node, lives_[y].alloc) &&
         std::ranges::all_of(lives_.EarlyNodes(y, rule_),
                             [&](NodeId early) { return order_.Before(node, early); });
}

void BlockOrder::Fetch(BlockId block) const {
  order_.Fetch(lives_[block].alloc);
  for (const NodeId marker : lives_.Markers(block, rule_)) order_.Fetch(marker);
}

Assumption BlockOrder::Assumes(BlockId x) const {
  if (trace_[x].free_node.valid() && rule_ == MarkerRule::kAtFree) return Assumption::kOrder;
  if (lives_.ByStreams(x, rule_)) return Assumption::kTorchStreams;
  return Assumption::kArguments;
}

}  // namespace graphkit
