// Helpers that the calls of cuDNN share: handles, and descriptors of tensors. Names, orders of
// arguments, enumerations and shapes are those of cuDNN 9's documentation; the toolkit lacks its
// headers, so enumerations are ints here.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plugins/soft_cuda/libraries/refuse.h"
#include "plugins/soft_cuda/libraries/work.h"

namespace graphkit::soft::dnn {

enum Status : int {
  kSuccess = 0,
  kNotInitialized = 1001,
  kBadParam = 2000,
  kNullPointer = 2002,
  kNotFinalized = 2004,
  kNotSupported = 3000,
  kExecutionFailed = 5000
};

struct Handle {
  CUstream stream = nullptr;
};

// Bits of an element of a cudnnDataType_t; 0: not known.
uint64_t ElementBits(int type);

// A cudnnTensorDescriptor_t or cudnnFilterDescriptor_t; strides in elements.
struct Tensor {
  int type = 0;
  int format = 0;  // of a filter: 0 NCHW, 1 NHWC
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
};

// Bytes from the first to the last element; 0 for a tensor that isn't set.
uint64_t Bytes(int type, const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides);
inline uint64_t Bytes(const Tensor* tensor) {
  return tensor != nullptr ? Bytes(tensor->type, tensor->sizes, tensor->strides) : 0;
}

// Of the scalar that an output's old value is multiplied by, a float or double on the host: whether
// the output is only written.
bool IsZero(const void* beta, const Tensor* output);

// The answer to how much workspace is needed: none.
inline Status NoBytes(size_t* bytes) {
  if (bytes == nullptr) return kNullPointer;
  *bytes = 0;
  return kSuccess;
}

inline Status Submit(const Work& work) {
  return work.Launch() == CUDA_SUCCESS ? kSuccess : kExecutionFailed;
}

}  // namespace graphkit::soft::dnn
