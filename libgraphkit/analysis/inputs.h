// What graphs touch that isn't theirs: their inputs, which have to stay as long as they are
// launched.
#pragma once

#include <cstdint>
#include <vector>

#include "libgraphkit/analysis/lifetimes.h"
#include "libgraphkit/model/trace.h"

namespace graphkit {

// A block that a graph touches and doesn't own, and the first node that does.
struct GraphInput {
  BlockId block;
  uint32_t access = 0;  // in Trace::accesses
  NodeId node;
  bool operator==(const GraphInput&) const = default;
};

// By root graph, each block once, in the order of the blocks. `roots`: of each graph.
std::vector<std::vector<GraphInput>> FindInputs(const Trace& trace, const Lifetimes& lives,
                                                const std::vector<GraphId>& roots);

}  // namespace graphkit
