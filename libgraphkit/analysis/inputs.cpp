#include "libgraphkit/analysis/inputs.h"

#include "libgraphkit/analysis/signature.h"

namespace graphkit {

std::vector<std::vector<GraphInput>> FindInputs(const Trace& trace, const Lifetimes& lives,
                                                const std::vector<GraphId>& roots) {
  std::vector<std::vector<GraphInput>> inputs(trace.graphs.size());
  const std::vector<bool> numbers_only = TakesNumbersOnly(trace);
  for (size_t i = 0; i < trace.blocks.size(); ++i) {
    GraphId last;
    for (const Touch& touch : lives.Touches(BlockId(i))) {
      const GraphId root = roots[trace[touch.node].graph.index()];
      if (root == lives.blocks[i].root || root == last) continue;
      if (TakesNumbersOnly(trace, touch.node, numbers_only)) continue;
      last = root;
      auto& of_graph = inputs[root.index()];
      if (!of_graph.empty() && of_graph.back().block == BlockId(i)) continue;
      of_graph.push_back({BlockId(i), touch.access, touch.node});
    }
  }
  return inputs;
}

}  // namespace graphkit
