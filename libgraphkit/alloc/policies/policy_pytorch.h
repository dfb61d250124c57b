// PyTorch's two ways with blocks that were used on other streams than their own. Source:
// c10/cuda/CUDACachingAllocator.cpp of PyTorch (December 2025), pytorch/pytorch#162186.
#pragma once

#include <map>
#include <unordered_map>
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
  bool Completes(BlockId, BlockId) const override { return false; }
  bool MayTake(BlockId last, BlockId block) const override {
    return complete(last) && SameStream(last, block);
  }
  void OfferToItsStream(BlockId block) { AddOffer(block, block); }
};

// graph_capture_record_stream_reuse. The markers of such a block are what all its streams stood at
// when it was freed. A malloc walks back from where its stream stands, over edges of every kind and
// not again over what an earlier malloc of the stream walked, and takes back the blocks of its
// stream all of whose markers were walked over. Where every edge is a full one and no stream goes
// back, these are the nodes before its place: an index asks the order, and nothing is walked.
class PyTorchPolicy final : public DeferPolicy {
 public:
  PyTorchPolicy(const PolicyView& view, PolicySearch search);

 protected:
  bool AtOnce(BlockId block) override;
  void Prepare(BlockId block) override;
  void Find(BlockId block) override;
  void Freed(BlockId block) override;
  bool Completes(BlockId pending, BlockId block) const override;

 private:
  struct Markers {
    GraphId graph;  // none: waits for the end of the capture
    std::vector<NodeId> nodes;
  };
  // Of one stream in one graph.
  struct Visited {
    std::vector<bool> nodes;  // by node of the graph
    // With an index: nodes that weren't walked over so far, and the blocks that wait for them.
    std::vector<bool> watched;
    std::unordered_map<NodeId, std::vector<BlockId>> waiting;
    std::vector<BlockId> reached;  // blocks that wait for no such node any more, for all we know
  };

  // By order: the blocks of a stream that wait, and what its mallocs so far are after.
  struct Ordered {
    OrderPoint point;
    ChainWaits waits;
    std::vector<BlockId> fresh;  // freed since
  };

  bool WalksByOrder() const;
  void FindByOrder(BlockId block);
  void Walk(NodeId from, Visited* visited);
  Visited& VisitedOf(GraphId graph, StreamId stream);
  bool Walked(const Visited& visited, NodeId node) const {
    const size_t number = NodeNumber(node);
    return number < visited.nodes.size() && visited.nodes[number];
  }
  size_t NodeNumber(NodeId node) const { return view_.slice.nodes.NumberOf(node.index()); }

  std::vector<Markers> markers_;  // by block of the graph
  bool by_order_;
  std::unordered_map<StreamId, Ordered> ordered_;
  std::map<std::pair<GraphId, StreamId>, Visited> visited_;
  Visited* current_ = nullptr;  // of the malloc under way
  GraphId current_graph_;       // that its stream is in; none: in none
  std::vector<NodeId> stack_;
};

}  // namespace graphkit
