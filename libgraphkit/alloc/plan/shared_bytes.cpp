#include <algorithm>

#include "libgraphkit/alloc/chunks/occupants.h"
#include "libgraphkit/alloc/plan/plan_trace.h"

namespace graphkit {
namespace {

// Neighbouring ranges of one pair are one.
bool Joins(const SharedBytes& last, const SharedBytes& next) {
  return last.earlier == next.earlier && last.later == next.later && last.arena == next.arena &&
         last.offset + last.size == next.offset;
}

Slice AddNodes(std::span<const NodeId> nodes, PlannedMemory* plan) {
  const Slice slice{static_cast<uint32_t>(plan->proof_nodes.size()),
                    static_cast<uint32_t>(nodes.size())};
  plan->proof_nodes.insert(plan->proof_nodes.end(), nodes.begin(), nodes.end());
  return slice;
}

}  // namespace

std::vector<NodeId> FirstTouches(const BlockOrder& order, BlockId block) {
  std::vector<NodeId> first;
  for (const Touch& touch : order.lives().Touches(block)) {
    const bool after = std::ranges::any_of(first, [&](NodeId node) {
      return node == touch.node || order.order().Before(node, touch.node);
    });
    if (!after) first.push_back(touch.node);
  }
  return first;
}

void AddSharedBytes(const BlockOrder& order, std::span<const Placement> placements,
                    PlannedMemory* plan) {
  Occupants occupants;
  const size_t known = plan->shared.size();
  for (const Placement& placement : placements) {
    if (placement.size == 0) continue;
    const BlockId later(placement.block);
    const Bytes end = placement.offset + placement.size;
    occupants.Visit(placement.offset, end, [&](BlockId earlier, Bytes from, Bytes to) {
      const SharedBytes next{.earlier = earlier,
                             .later = later,
                             .arena = placement.arena,
                             .offset = from,
                             .size = to - from};
      if (plan->shared.size() > known && Joins(plan->shared.back(), next)) {
        plan->shared.back().size += next.size;
      } else {
        plan->shared.push_back(next);
      }
      return true;
    });
    occupants.Put(later, placement.offset, end);
  }
  for (size_t i = known; i < plan->shared.size(); ++i) {
    SharedBytes& shared = plan->shared[i];
    shared.exclusive = !order.DiesBefore(shared.earlier, order.lives()[shared.later].alloc);
    shared.assumes = order.Assumes(shared.earlier);
    if (shared.exclusive) continue;
    shared.ends = AddNodes(order.lives().Markers(shared.earlier, order.rule()), plan);
    shared.starts = AddNodes(FirstTouches(order, shared.later), plan);
  }
}

}  // namespace graphkit
