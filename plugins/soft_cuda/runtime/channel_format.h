// The runtime's channel descriptors, in the driver's terms.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace graphkit::soft::runtime {

// INVALID_CHANNEL_DESCRIPTOR: no array has such elements.
cudaError_t ToDriver(const cudaChannelFormatDesc& desc, CUDA_ARRAY3D_DESCRIPTOR* shape);
cudaChannelFormatDesc ChannelsOf(const CUDA_ARRAY3D_DESCRIPTOR& shape);

// The bytes of an array's elements; 0: not an array, or one of planes.
size_t ElementBytesOf(cudaArray_const_t array, CUDA_ARRAY3D_DESCRIPTOR* shape = nullptr);

inline CUarray Driver(cudaArray_const_t array) {
  return reinterpret_cast<CUarray>(const_cast<cudaArray_t>(array));
}

}  // namespace graphkit::soft::runtime
