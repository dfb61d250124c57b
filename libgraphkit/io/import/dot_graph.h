// A DOT text as clusters, nodes and edges. Of attributes the label and those that tell nodes of
// cudaGraphDebugDotPrint apart are kept.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libgraphkit/result.h"

namespace graphkit {

struct DotCluster {
  std::string name;  // of the subgraph
  std::string label;
};

// Empty: not said.
struct DotAttributes {
  std::string label;  // with its escapes
  std::string shape;
  std::string style;
};

struct DotNode {
  std::string name;
  DotAttributes attributes;
  uint32_t cluster = 0;
  bool declared = false;  // by a statement of its own
};

struct DotGraph {
  std::vector<DotCluster> clusters;  // the first stands for what is outside of any
  std::vector<DotNode> nodes;
  std::vector<std::pair<uint32_t, uint32_t>> edges;
};

// Passes over statements that aren't known; an error where the text is no graph, or is cut off.
Result<DotGraph> ParseDot(std::string_view text);

}  // namespace graphkit
