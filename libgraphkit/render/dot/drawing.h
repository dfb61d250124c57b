// A drawing, as the legend and the writer take it.
#pragma once

#include <cstdint>
#include <vector>

#include "libgraphkit/ran/ran.h"
#include "libgraphkit/render/dot/dot.h"

namespace graphkit {

// All that a drawing is made of; refers to values of its caller.
struct Drawing {
  const Ran& trace;
  const FoldedGraphs& folded;
  const std::vector<bool>& graphs;  // by graph: whether it is drawn
  const DotOptions& options;
  std::vector<uint32_t> colour_keys;  // by node
};

}  // namespace graphkit
