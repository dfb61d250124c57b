// The nodes that touch a block, graph by graph: a block that thousands of graphs touch isn't gone
// through for each of them.
#pragma once

#include <algorithm>
#include <span>
#include <unordered_map>
#include <vector>

#include "libgraphkit/analysis/memory/memory_facts.h"

namespace graphkit {

class TouchesByGraph {
 public:
  explicit TouchesByGraph(const MemoryFacts& facts) : facts_(facts) {}

  // Those of a root graph, in capture order.
  std::span<const NodeId> Of(BlockId block, GraphId root) {
    const auto root_of = [this](NodeId node) {
      return facts_.roots()[facts_.trace[node].graph.index()];
    };
    const auto [at, is_new] = nodes_.try_emplace(block);
    std::vector<NodeId>& nodes = at->second;
    if (is_new) {
      for (const Touch& touch : facts_.lives().Touches(block)) {
        if (nodes.empty() || nodes.back() != touch.node) nodes.push_back(touch.node);
      }
      std::ranges::stable_sort(nodes, {}, root_of);
    }
    const auto first = std::ranges::lower_bound(nodes, root, {}, root_of);
    return {first, std::ranges::upper_bound(nodes, root, {}, root_of)};
  }

 private:
  const MemoryFacts& facts_;
  std::unordered_map<BlockId, std::vector<NodeId>> nodes_;
};

}  // namespace graphkit
