// PyTorch's two ways with blocks that were used on other streams than their own. Source:
// c10/cuda/CUDACachingAllocator.cpp of PyTorch (December 2025), pytorch/pytorch#162186.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "libgraphkit/alloc/policy.h"

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
  bool Completes(BlockId, BlockId) const override { return false; }
  bool MayTake(BlockId last, BlockId block) const override {
    return complete(last) && SameStream(last, block);
  }
};

// graph_capture_record_stream_reuse. The markers of such a block are what all its streams stood at
// when it was freed. A malloc walks back from where its stream stands, over edges of every kind and
// not again over what an earlier malloc of the stream walked, and takes back the blocks of its
// stream all of whose markers were walked over.
class PyTorchPolicy final : public DeferPolicy {
 public:
  explicit PyTorchPolicy(const PolicyView& view)
      : DeferPolicy(view), markers_(view.trace.blocks.size()) {}

 protected:
  bool AtOnce(BlockId block) override;
  void Prepare(BlockId block) override;
  bool Completes(BlockId pending, BlockId block) const override;

 private:
  struct Markers {
    GraphId graph;  // none: waits for the end of the capture
    std::vector<NodeId> nodes;
  };
  using Visited = std::vector<bool>;  // by node

  void Walk(NodeId from, Visited* visited);

  std::vector<Markers> markers_;  // by block
  std::map<std::pair<GraphId, StreamId>, Visited> visited_;
  const Visited* current_ = nullptr;  // of the malloc under way
  GraphId current_graph_;
  std::vector<NodeId> stack_;
};

}  // namespace graphkit
