// A graph's content, in numbers that two runs of a program share, whatever its ids, addresses and
// name: what tells the graphs of a program apart that have no name.
#pragma once

#include <cstdint>
#include <vector>

namespace graphkit {

struct GraphContent {
  // Of nodes, kernels, parameters, sizes, edges, and which nodes share a stream.
  uint64_t hash = 0;
  // A sample of the nodes' hashes, the smallest ones, rising: how many of them two graphs share
  // says how alike they are. As many as the graph has, up to kSampled.
  std::vector<uint32_t> sample = {};
  static constexpr uint32_t kSampled = 16;

  bool operator==(const GraphContent&) const = default;
};

}  // namespace graphkit
