// xstream, last-use and reuse: what the order of the graph proves is offered, nothing else.
#include <algorithm>
#include <optional>

#include "libgraphkit/alloc/policies/freed_by_order.h"
#include "libgraphkit/alloc/policies/policy.h"

namespace graphkit {
namespace {

class OrderPolicy final : public ReusePolicy {
 public:
  // The markers are those of the order's rule.
  OrderPolicy(const PolicyView& view, bool any_stream)
      : ReusePolicy(view), any_stream_(any_stream) {
    if (view.views != nullptr) freed_.emplace(view.order, *view.views, any_stream);
  }

  bool OffersFresh(StreamId owner, BlockId block) const override {
    return any_stream_ || ReusePolicy::OffersFresh(owner, block);
  }

 private:
  // The block's own stream is after all its markers when it is freed.
  bool AtOnce(BlockId block) override {
    view_.frontiers.AdvanceTo(view_.trace[block].free_requested);
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

  void Freed(BlockId block) override {
    if (freed_) {
      freed_->Free(block);
    } else if (pending(block)) {
      waiting_.push_back(block);
    }
  }

  void Find(BlockId block) override {
    if (!freed_) {
      std::erase_if(waiting_, [&](BlockId waiting) {
        if (!MayTake(waiting, block)) return false;
        Complete(waiting);
        return true;
      });
      return;
    }
    found_.clear();
    freed_->BeforeMalloc(block, &found_);
    for (const BlockId found : found_) {
      if (pending(found)) Complete(found);
      AddOffer(found, block);
    }
  }

  bool MayTake(BlockId last, BlockId block) const override {
    return (any_stream_ || SameStream(last, block)) && view_.order.Before(last, block);
  }

  bool any_stream_;
  std::optional<FreedByOrder> freed_;
  std::vector<BlockId> found_;
  std::vector<BlockId> waiting_;  // without views
};

}  // namespace

std::unique_ptr<ReusePolicy> MakeByOrder(const PolicyView& view) {
  return std::make_unique<OrderPolicy>(view, true);
}

std::unique_ptr<ReusePolicy> MakeByOrderOfStream(const PolicyView& view) {
  return std::make_unique<OrderPolicy>(view, false);
}

}  // namespace graphkit
