// Answers of functions that give an attribute through void*.
#pragma once

#include <cuda.h>

namespace graphkit::soft::driver {

template <typename T>
CUresult Give(void* to, T value) {
  *static_cast<T*>(to) = value;
  return CUDA_SUCCESS;
}

}  // namespace graphkit::soft::driver
