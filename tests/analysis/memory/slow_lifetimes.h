// Lifetimes and the order of blocks, the slow and obvious way: nothing is reduced, every pair of
// nodes is asked for by search.
#pragma once

#include <vector>

#include "libgraphkit/analysis/memory/block_order.h"
#include "tests/analysis/order/slow_frontier.h"
#include "tests/analysis/order/slow_order.h"

namespace graphkit {

class SlowBlockOrder {
 public:
  // `order`: of the trace, by completion; must outlive it.
  SlowBlockOrder(const Ran& trace, const SlowOrder& order, MarkerRule rule);

  bool Before(BlockId x, BlockId y) const;
  // True if anything can be after x.
  bool Dies(BlockId x) const { return lives_[x.index()].inside && lives_[x.index()].dies; }

 private:
  using Frontier = std::vector<FrontierEntry>;
  struct Life {
    bool inside = false;  // allocated in a graph
    bool dies = false;
    bool by_streams = false;
    GraphId graph;
    Frontier alloc;
    std::vector<NodeId> touches;
    std::vector<NodeId> markers;
    std::vector<NodeId> first;  // besides the allocation point
  };

  Life Find(BlockId block);
  bool OpaqueNodeWhileLive(const Block& block, GraphId graph) const;
  void AddFreeMarkers(BlockId block, Life* life);
  void AddFreeNodeMarkers(BlockId block, Life* life) const;
  bool StartCovers(NodeId node, const Life& life) const;
  bool MarkedBefore(const Life& x, NodeId node) const;
  Seq LastSeq(BlockId x) const;

  const Ran& trace_;
  MarkerRule rule_;
  const SlowOrder& order_;
  SlowFrontiers frontiers_;
  std::vector<Life> lives_;
};

}  // namespace graphkit
