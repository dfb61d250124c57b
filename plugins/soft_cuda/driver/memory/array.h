// The levels of a mipmapped array.
#pragma once

#include <cuda.h>

#include "plugins/soft_cuda/device/device.h"

namespace graphkit::soft::driver {

size_t BytesOfLevels(const CUDA_ARRAY3D_DESCRIPTOR& shape, unsigned levels);
// Its levels lie one after the other from `memory` on; 0: none yet.
MipmappedArray* MakeMipmaps(const CUDA_ARRAY3D_DESCRIPTOR& shape, unsigned levels, uint64_t memory);

}  // namespace graphkit::soft::driver
