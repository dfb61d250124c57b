// Vectors and matrices between host and device: copies by the driver, of elements of any size. A
// vector of a stride is copied as a matrix of one row.
#include <algorithm>

#include "plugins/soft_cuda/libraries/blas/handle.h"

namespace graphkit::soft::blas {
namespace {

constexpr int kMappingError = 11;

// Columns of `width` bytes, from each to the next `pitch` bytes.
struct Side {
  const void* memory;
  size_t pitch;
};
enum class Way { kSet, kGet };  // to the device; from it

// `stream` null: the copy is done when the call returns.
int Copy(Way way, size_t width, size_t columns, Side from, Side to, const CUstream* stream) {
  if (width == 0 || columns == 0) return kSuccess;
  if (from.pitch == width && to.pitch == width) {
    width *= columns;
    columns = 1;
  }
  CUDA_MEMCPY2D copy{};
  copy.WidthInBytes = width;
  copy.Height = columns;
  copy.srcPitch = std::max(from.pitch, width);
  copy.dstPitch = std::max(to.pitch, width);
  copy.srcMemoryType = way == Way::kSet ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
  copy.dstMemoryType = way == Way::kSet ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
  copy.srcHost = from.memory;
  copy.srcDevice = reinterpret_cast<CUdeviceptr>(from.memory);
  copy.dstHost = const_cast<void*>(to.memory);
  copy.dstDevice = reinterpret_cast<CUdeviceptr>(to.memory);
  const CUresult result = stream != nullptr ? cuMemcpy2DAsync(&copy, *stream) : cuMemcpy2D(&copy);
  return result == CUDA_SUCCESS ? kSuccess : kMappingError;
}

int CopyVector(Way way, int64_t n, int64_t element, const void* x, int64_t incx, void* y,
               int64_t incy, const CUstream* stream) {
  if (n < 0 || element <= 0 || incx <= 0 || incy <= 0) return kInvalidValue;
  const auto bytes = static_cast<size_t>(element);
  return Copy(way, bytes, static_cast<size_t>(n), {x, static_cast<size_t>(incx) * bytes},
              {y, static_cast<size_t>(incy) * bytes}, stream);
}

int CopyMatrix(Way way, int64_t rows, int64_t columns, int64_t element, const void* a, int64_t lda,
               void* b, int64_t ldb, const CUstream* stream) {
  if (rows < 0 || columns < 0 || element <= 0 || lda <= 0 || ldb <= 0) return kInvalidValue;
  const auto bytes = static_cast<size_t>(element);
  return Copy(way, static_cast<size_t>(rows) * bytes, static_cast<size_t>(columns),
              {a, static_cast<size_t>(lda) * bytes}, {b, static_cast<size_t>(ldb) * bytes}, stream);
}

}  // namespace
}  // namespace graphkit::soft::blas

using namespace graphkit::soft::blas;

#define TRANSFERS(Name, suffix, Int)                                                              \
  STAND_IN int cublas##Name##Vector##suffix(Int n, Int element, const void* x, Int incx, void* y, \
                                            Int incy) {                                           \
    return CopyVector(Way::k##Name, n, element, x, incx, y, incy, nullptr);                       \
  }                                                                                               \
  STAND_IN int cublas##Name##VectorAsync##suffix(Int n, Int element, const void* x, Int incx,     \
                                                 void* y, Int incy, CUstream stream) {            \
    return CopyVector(Way::k##Name, n, element, x, incx, y, incy, &stream);                       \
  }                                                                                               \
  STAND_IN int cublas##Name##Matrix##suffix(Int rows, Int columns, Int element, const void* a,    \
                                            Int lda, void* b, Int ldb) {                          \
    return CopyMatrix(Way::k##Name, rows, columns, element, a, lda, b, ldb, nullptr);             \
  }                                                                                               \
  STAND_IN int cublas##Name##MatrixAsync##suffix(Int rows, Int columns, Int element,              \
                                                 const void* a, Int lda, void* b, Int ldb,        \
                                                 CUstream stream) {                               \
    return CopyMatrix(Way::k##Name, rows, columns, element, a, lda, b, ldb, &stream);             \
  }

extern "C" {
TRANSFERS(Set, , int)
TRANSFERS(Get, , int)
TRANSFERS(Set, _64, int64_t)
TRANSFERS(Get, _64, int64_t)
}
