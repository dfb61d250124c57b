#include "libgraphkit/analysis/memory/block_order.h"

#include <algorithm>

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

// Whether something at `seq` comes after x as far as calls go: a free counts as a use at its place,
// and so does the allocation of a block that no node touches.
bool BlockOrder::Later(BlockId x, Seq seq) const {
  if (lives_.ByStreams(x, rule_)) return trace_[x].free_requested < seq;
  return !lives_[x].last_use.empty() || trace_[x].allocated < seq;
}

// Of blocks of different graphs: 1 if x is in an earlier body of a conditional than y, -1 if in a
// later one, 0 if not both in bodies of one.
int BlockOrder::ExclusiveBodies(BlockId x, BlockId y) const {
  const GraphId x_graph = lives_[x].alloc.graph;
  const GraphId y_graph = lives_[y].alloc.graph;
  if (lives_[x].leaves || lives_[y].leaves) return 0;
  if (!trace_[x_graph].parent.valid() || !trace_[y_graph].parent.valid()) return 0;
  for (GraphId a = x_graph; trace_[a].parent.valid(); a = trace_[trace_[a].parent].graph) {
    for (GraphId b = y_graph; trace_[b].parent.valid(); b = trace_[trace_[b].parent].graph) {
      if (trace_[a].parent != trace_[b].parent || a == b) continue;
      const Node& holder = trace_[trace_[a].parent];
      if (holder.kind != NodeKind::kConditional || MayRepeat(holder)) return 0;
      return trace_[a].body < trace_[b].body ? 1 : -1;
    }
  }
  return 0;
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
