// Reads the Chrome traces of PyTorch's profiler (Kineto), compressed or not: how long each node of
// each graph ran. Kernels, copies and sets carry "graph id" and "graph node id" from CUDA 12 on;
// either the node id is whole (graph id << 32 | node id) or it counts inside the graph.
#pragma once

#include <string_view>

#include "libgraphkit/io/import/import.h"

namespace graphkit {

// The row of the table of import.cpp.
bool IsKineto(std::string_view head);
Result<Imported> ReadKineto(std::string_view bytes);  // padded

}  // namespace graphkit
