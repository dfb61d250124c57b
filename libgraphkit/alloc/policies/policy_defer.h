// PyTorch's ways with blocks that were used on other streams than their own. Source:
// c10/cuda/CUDACachingAllocator.cpp of PyTorch (December 2025), pytorch/pytorch#162186.
#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "libgraphkit/alloc/chunks/chain_waits.h"
#include "libgraphkit/alloc/policies/policy.h"

namespace graphkit {

// A block that stayed on its stream comes back at once, to that stream; any other waits for the end
// of the capture.
class DeferPolicy : public ReusePolicy {
 public:
  using ReusePolicy::ReusePolicy;

 protected:
  bool AtOnce(BlockId block) override {
    return view_.trace[block].stream.valid() && view_.streams[block.index()].empty();
  }
  void Find(BlockId) override {}
  void Freed(BlockId block) override {
    if (complete(block)) OfferToItsStream(block);
  }
  bool MayTake(BlockId last, BlockId block) const override {
    return complete(last) && SameStream(last, block);
  }
  void OfferToItsStream(BlockId block) { AddOffer(block, block); }
};

// graph_capture_record_stream_reuse: such a block gets markers when it is freed, nodes behind which
// each of its streams stands, and comes back to a malloc of its own stream that comes after all of
// them. It takes none, and waits for the end, when one of its streams isn't in the capture, or they
// are in different ones.
class MarkerPolicy : public DeferPolicy {
 protected:
  // A node that a stream stands behind.
  struct End {
    NodeId node;
    OrderPoint point;  // where it has ended
  };
  // A stream in one graph.
  struct Stream {
    std::vector<BlockId> freed;  // its blocks that have markers
    uint32_t version = 0;        // of its frontier, when the ends were taken from it
    std::vector<End> ends;
    OrderedView view;
  };

  // Ends are of `frontiers`, and ordered by `order`; both must outlive the policy.
  MarkerPolicy(const PolicyView& view, const Order& order, FrontierReplay* frontiers)
      : DeferPolicy(view),
        order_(order),
        frontiers_(*frontiers),
        markers_(view.slice.blocks.size()) {}

  bool AtOnce(BlockId block) final;
  void Find(BlockId block) final;

  // Takes in every record before `seq`.
  virtual void AdvanceTo(Seq seq) { frontiers_.AdvanceTo(seq); }
  // Adds the markers of one of a freed block's streams, as `order` knows them.
  virtual void Mark(StreamId stream, GraphId graph, std::vector<NodeId>* markers) = 0;
  // The stream stands behind these now. Calls Advance for places that it has come to.
  virtual void Move(std::span<const FrontierEntry> entries, Stream* own) = 0;
  virtual bool Passed(const Stream& own, NodeId marker) const = 0;

  bool EndsBefore(NodeId marker, const End& end) const {
    return marker == end.node || order_.Before(marker, end.point);
  }
  // Looks at the blocks that wait for a marker which has ended at the point.
  void Advance(const OrderPoint& point, Stream* own);

  const Order& order_;
  FrontierReplay& frontiers_;

 private:
  GraphId CaptureOf(std::span<const StreamId> streams) const;
  void Look(uint32_t number, Stream* own);

  std::vector<std::vector<NodeId>> markers_;  // by block of the graph
  std::map<std::pair<GraphId, StreamId>, Stream> streams_;
};

}  // namespace graphkit
