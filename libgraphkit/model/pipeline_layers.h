// Layers of one rank's model chunks and the sizes that they pass to each other: the buffers of a
// pipeline's graphs follow from.
#pragma once

#include <string>
#include <vector>

#include "libgraphkit/units.h"

namespace graphkit {

// One layer, captured as a graph of its own for every microbatch.
struct PipelineLayer {
  // Buffers of layers with equal signatures may stand in for each other: shapes, types and layouts
  // of the arguments, in whatever words.
  std::string signature;
  Bytes input = 0;          // its input, and the gradient of it
  Bytes output = 0;         // its output, and the gradient of it
  bool saves_input = true;  // its backward reads the input
  bool saves_output = false;
  bool operator==(const PipelineLayer&) const = default;
};

struct PipelineLayers {
  std::vector<std::vector<PipelineLayer>> chunks;  // chunks[c][l], in the order of the forward
  bool operator==(const PipelineLayers&) const = default;
};

}  // namespace graphkit
