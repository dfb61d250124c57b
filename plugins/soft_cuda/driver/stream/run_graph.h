// A graph's launch.
#pragma once

#include <cuda.h>

#include "plugins/soft_cuda/device/device.h"

namespace graphkit::soft::driver {

// Puts a graph into the stream.
CUresult RunGraph(Stream* stream, Graph* graph);

}  // namespace graphkit::soft::driver
