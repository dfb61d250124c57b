// Helpers that the parts of cuSOLVER share. Workspaces are modelled: there is none.
#pragma once

#include "plugins/soft_cuda/libraries/blas/forms.h"

namespace graphkit::soft::blas {

enum SolverStatus { kSolved = 0, kBad = 3, kFailed = 6 };

inline int NoWorkspace(size_t* device, size_t* host) {
  if (device == nullptr || host == nullptr) return kBad;
  *device = *host = 0;
  return kSolved;
}
inline int NoWorkspace(int* elements) {
  if (elements == nullptr) return kBad;
  *elements = 0;
  return kSolved;
}

inline int64_t Smaller(int64_t m, int64_t n) { return m < n ? m : n; }

}  // namespace graphkit::soft::blas
