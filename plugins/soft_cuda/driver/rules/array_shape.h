// Which shapes an array can have.
#pragma once

#include <cuda.h>

namespace graphkit::soft::driver {

CUresult CheckArrayShape(const CUDA_ARRAY3D_DESCRIPTOR& shape, bool mipmapped);

}  // namespace graphkit::soft::driver
