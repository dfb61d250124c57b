// The events of a Chrome trace as PyTorch's profiler (Kineto) writes them, read one after another:
// the file is never in memory as a whole.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "libgraphkit/io/bytes/byte_source.h"
#include "libgraphkit/model/graph.h"
#include "libgraphkit/result.h"

namespace graphkit {

// One event. Texts are valid until the next event.
struct KinetoEvent {
  std::string_view category, name;
  double begin_us = 0, duration_us = 0;
  uint64_t thread = 0;
  // Of its "args":
  uint64_t args_at = 0;      // their place in the file, behind the brace; 0: there are none
  uint64_t correlation = 0;  // of the call that submitted it; 0: unknown
  uint64_t graph = 0;
  uint64_t node = 0;
  bool has_node = false;
  uint64_t stream = 0;
  uint32_t device = 0;
  LaunchShape shape = {.grid = {0, 0, 0}};  // a grid of 0: unknown
  std::string_view kernel;                  // ROCm: the kernel that the call launches
  std::string_view dims, types;             // of an operator's inputs: JSON
  std::string_view collective;

  // The node's tools id (graph << 32 | number); 0: not in the event. The number may be whole
  // itself.
  uint64_t tool_id() const {
    const bool whole = node >> 32 != 0;
    return !has_node || (!whole && graph == 0) ? 0 : whole ? node : graph << 32 | node;
  }
};

using TakeKinetoEvent = std::function<void(const KinetoEvent&)>;

// {"traceEvents": […]}, or the array itself.
Result<void> ForEachKinetoEvent(ByteSource& source, const TakeKinetoEvent& take);

}  // namespace graphkit
