// How large textures and surfaces may be.
#pragma once

#include <cuda_runtime_api.h>

namespace graphkit::soft::runtime {

void FillTextureLimits(cudaDeviceProp* prop, int device);

}  // namespace graphkit::soft::runtime
