// xstream, last-use and reuse: what the order of the graph proves is offered, nothing else.
#pragma once

#include <optional>
#include <vector>

#include "libgraphkit/alloc/policies/freed_by_order.h"
#include "libgraphkit/alloc/policies/policy.h"

namespace graphkit {

class OrderPolicy final : public ReusePolicy {
 public:
  // The markers are those of the order's rule.
  OrderPolicy(const PolicyView& view, PolicySearch search, bool any_stream)
      : ReusePolicy(view, search), any_stream_(any_stream) {
    if (indexed()) freed_.emplace(view.order, *view.views, any_stream);
  }

  bool OffersFresh(StreamId owner, BlockId block) const override {
    return any_stream_ || ReusePolicy::OffersFresh(owner, block);
  }

 protected:
  // Complete at once: the block's own stream is after all its markers when it is freed.
  bool AtOnce(BlockId block) override;
  void Find(BlockId block) override;
  void Freed(BlockId block) override { freed_->Free(block); }
  bool Completes(BlockId pending, BlockId block) const override { return MayTake(pending, block); }
  bool MayTake(BlockId last, BlockId block) const override {
    return (any_stream_ || SameStream(last, block)) && view_.order.Before(last, block);
  }

 private:
  bool any_stream_;
  std::optional<FreedByOrder> freed_;
  std::vector<BlockId> found_;
};

}  // namespace graphkit
