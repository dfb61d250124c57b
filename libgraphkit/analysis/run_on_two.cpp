#include "libgraphkit/analysis/run_on_two.h"

#include <atomic>
#include <future>

namespace graphkit {

bool IsSmall(const Trace& trace) {
  constexpr size_t kSmall = 10'000;
  return trace.nodes.size() + trace.blocks.size() < kSmall;
}

void RunOnTwo(bool alone, const std::vector<std::function<void()>>& tasks) {
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < tasks.size(); i = next++) tasks[i]();
  };
  auto beside = std::async(alone ? std::launch::deferred : std::launch::async, work);
  work();
  beside.get();
}

}  // namespace graphkit
