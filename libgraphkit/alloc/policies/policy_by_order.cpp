#include "libgraphkit/alloc/policies/policy_by_order.h"

#include <algorithm>

namespace graphkit {

bool OrderPolicy::AtOnce(BlockId block) {
  const BlockOrder& order = view_.order;
  const StreamFrontier& own = view_.frontiers.Of(view_.trace[block].stream);
  if (!own.capturing() || !order.Dies(block)) return false;
  const auto ended = [&](NodeId marker) {
    return std::ranges::any_of(own.entries, [&](const FrontierEntry& entry) {
      return entry.from_port == kPortDefault && order.order().EndsBefore(marker, entry.node);
    });
  };
  return std::ranges::all_of(order.lives().Markers(block, order.rule()), ended);
}

void OrderPolicy::Find(BlockId block) {
  found_.clear();
  freed_->BeforeMalloc(block, &found_);
  for (const BlockId found : found_) {
    if (pending(found)) Complete(found);
    AddOffer(found, block);
  }
}

}  // namespace graphkit
