#include "libgraphkit/model/graph.h"

#include <array>

namespace graphkit {

const char* NodeKindName(NodeKind kind) {
  static constexpr std::array<const char*, kNodeKindCount> kNames = {
      "kernel",       "memcpy",       "memset",           "host",           "graph",     "empty",
      "event_wait",   "event_record", "semaphore_signal", "semaphore_wait", "mem_alloc", "mem_free",
      "batch_mem_op", "conditional"};
  const auto index = static_cast<size_t>(kind);
  return index < kNames.size() ? kNames[index] : "unknown";
}

}  // namespace graphkit
