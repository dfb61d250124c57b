// Where memory of a pool or a graph can be.
#pragma once

#include <cuda.h>

namespace graphkit::soft::driver {

// Can a pool, or a graph's memory, be of this place and type?
CUresult CheckPoolPlace(const CUmemLocation& location, CUmemAllocationType type);

}  // namespace graphkit::soft::driver
