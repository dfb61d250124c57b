// What a texture can read, and how.
#pragma once

#include <cuda.h>

namespace graphkit::soft::driver {

// Is it memory, an array or a mipmapped array that a texture can read?
bool IsReadable(const CUDA_RESOURCE_DESC& resource);
bool CanSample(const CUDA_RESOURCE_DESC& resource, const CUDA_TEXTURE_DESC& sampling);
bool CanView(const CUDA_RESOURCE_DESC& resource, const CUDA_RESOURCE_VIEW_DESC& view);

}  // namespace graphkit::soft::driver
