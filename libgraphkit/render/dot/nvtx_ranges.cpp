#include "libgraphkit/render/dot/nvtx_ranges.h"

#include <algorithm>

#include "libgraphkit/render/dot/fold.h"

namespace graphkit {

namespace {

// Ranges in the order in which they were opened.
std::vector<uint32_t> ByBegin(const Trace& trace) {
  std::vector<uint32_t> order(trace.nvtx_ranges.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint32_t>(i);
  std::ranges::stable_sort(order, {}, [&](uint32_t i) { return trace.nvtx_ranges[i].begin; });
  return order;
}

}  // namespace

// One sweep over the nodes in capture order; ranges needn't be nested.
std::vector<uint32_t> InnermostRanges(const Trace& trace) {
  std::vector<uint32_t> range_of(trace.nodes.size(), kNoRange);
  std::vector<std::vector<uint32_t>> open(trace.threads.size());  // by thread
  const std::vector<uint32_t> order = ByBegin(trace);
  auto next = order.begin();
  for (size_t i = 0; i < trace.nodes.size(); ++i) {
    const Node& node = trace.nodes[i];
    for (; next != order.end() && trace.nvtx_ranges[*next].begin < node.seq; ++next) {
      const ThreadId thread = trace.nvtx_ranges[*next].thread;
      if (thread.index() < open.size()) open[thread.index()].push_back(*next);
    }
    if (node.thread.index() >= open.size()) continue;
    std::vector<uint32_t>& of_thread = open[node.thread.index()];
    std::erase_if(of_thread, [&](uint32_t r) { return trace.nvtx_ranges[r].end <= node.seq; });
    if (!of_thread.empty()) range_of[i] = of_thread.back();
  }
  return range_of;
}

}  // namespace graphkit
