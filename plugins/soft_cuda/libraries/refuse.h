// Code shared by the libraries that stand in for NVIDIA's.
#pragma once

#include "plugins/soft_cuda/device/shared.h"

// An export, by the library's own name.
#define STAND_IN __attribute__((visibility("default")))

namespace graphkit::soft {

// The version of CUDA that the library is of: 12 or 13. Its generated part defines it.
extern const int kCudaMajor;

// Of a function that isn't modelled: says so, and returns the library's status for it. `caller` is
// an address in the code that called the function.
inline int Refuse(const char* function, int status, const void* caller) {
  graphkit_soft_shared()->not_modelled(function, caller);
  return status;
}

}  // namespace graphkit::soft
