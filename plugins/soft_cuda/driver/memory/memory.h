// Memory that is allocated and freed at once.
#pragma once

#include <cuda.h>

namespace graphkit::soft::driver {

// Common to all calls that allocate or free at once: they are unsafe during a capture.
CUresult BeginAtOnce();

}  // namespace graphkit::soft::driver
