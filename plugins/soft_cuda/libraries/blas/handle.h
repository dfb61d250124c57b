// The handle that cublasCreate gives, and helpers that the calls of cuBLAS and cuBLASLt share.
// Names, orders of arguments, enumerations and shapes are those of cuBLAS's documentation; the
// toolkit's runtime packages lack its headers, so enumerations are ints here and scalars are bytes.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>

#include "plugins/soft_cuda/libraries/refuse.h"
#include "plugins/soft_cuda/libraries/work.h"

namespace graphkit::soft::blas {

enum Status : int {
  kSuccess = 0,
  kNotInitialized = 1,
  kInvalidValue = 7,
  kExecutionFailed = 13,
  kNotSupported = 15
};

// Of the library's CUDA: 12.8, 13.4.
inline size_t Version() { return kCudaMajor == 13 ? 130400 : 120800; }

// A cublasHandle_t, which is a cublasLtHandle_t too.
struct Handle {
  CUstream stream = nullptr;
  void* workspace = nullptr;  // the user's; null: cuBLAS's own, which isn't modelled
  size_t workspace_bytes = 0;
  int pointer_mode = 0;  // 0: scalars on the host, 1: on the device
  int atomics_mode = 0;
  int math_mode = 0;
  int logger = 0;
  int multiprocessors = 0;  // to be used; 0: all

  bool device_scalars() const { return pointer_mode == 1; }
};

// Bits of an element of a cudaDataType; 0: not known.
uint64_t ElementBits(int type);
inline uint64_t BytesOf(uint64_t elements, int type) {
  return (elements * ElementBits(type) + 7) / 8;
}

// Elements from the first to the last of `n` with a stride (of either sign), and of columns with a
// leading dimension.
inline uint64_t VectorSpan(int64_t n, int64_t stride) {
  if (n <= 0) return 0;
  return static_cast<uint64_t>((n - 1) * (stride < 0 ? -stride : stride) + 1);
}
inline uint64_t MatrixSpan(int64_t rows, int64_t columns, int64_t leading) {
  if (rows <= 0 || columns <= 0) return 0;
  return static_cast<uint64_t>((columns - 1) * leading + rows);
}
// The same for a batch of them, each `stride` elements behind the last.
inline uint64_t BatchSpan(uint64_t one, int64_t stride, int64_t count) {
  if (count <= 0 || one == 0) return 0;
  return static_cast<uint64_t>((count - 1) * stride) + one;
}

// True if a scalar is 0, as far as the host can see: a matrix that is multiplied by it isn't read.
bool IsZero(const Handle& handle, const void* scalar, uint64_t bytes);

// The work of a call: reads what scalars lie on the device, and uses the user's workspace.
class Call : public Work {
 public:
  Call(const char* name, const Handle& handle) : Work(name, handle.stream), handle_(handle) {}
  Call& Scalar(const void* scalar, uint64_t bytes) {
    if (handle_.device_scalars()) Reads(scalar, bytes);
    return *this;
  }
  // The result of a reduction. On the host it is 0, as no arithmetic is done.
  Call& Result(void* result, uint64_t bytes);
  Call& Workspace() {
    Writes(handle_.workspace, handle_.workspace_bytes);
    return *this;
  }
  const Handle& handle() const { return handle_; }
  Status Submit() const { return Launch() == CUDA_SUCCESS ? kSuccess : kExecutionFailed; }

 private:
  const Handle& handle_;
};

}  // namespace graphkit::soft::blas
