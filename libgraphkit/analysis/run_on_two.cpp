#include "libgraphkit/analysis/run_on_two.h"

#include "libgraphkit/parallel.h"

namespace graphkit {

bool IsSmall(const Trace& trace) {
  constexpr size_t kSmall = 10'000;
  return trace.nodes.size() + trace.blocks.size() < kSmall;
}

void RunOnTwo(bool alone, const std::vector<std::function<void()>>& tasks) {
  ParallelFor(tasks.size(), alone ? 1 : 2, [&](size_t i) { tasks[i](); });
}

}  // namespace graphkit
