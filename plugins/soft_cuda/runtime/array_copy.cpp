// Copies to and from arrays, in rows or as one run of bytes, and batches of copies of volumes.
#include <algorithm>
#include <vector>

#include "plugins/soft_cuda/model/copy_operand.h"
#include "plugins/soft_cuda/runtime/params.h"
#include "plugins/soft_cuda/runtime/start.h"
#include "runtime_impl.h"

namespace graphkit::soft::runtime {
namespace {

CopyOperand At(cudaArray_const_t array, size_t x, size_t y) { return InArray(Driver(array), x, y); }
CopyOperand From(const void* memory, size_t pitch, cudaMemcpyKind kind) {
  return InMemory(SourceType(kind), Address(memory), pitch);
}
CopyOperand To(void* memory, size_t pitch, cudaMemcpyKind kind) {
  return InMemory(TargetType(kind), Address(memory), pitch);
}

cudaError_t CheckRows(const CopyOperand& side, size_t width, cudaMemcpyKind kind) {
  if (!IsKind(kind)) return cudaErrorInvalidMemcpyDirection;
  return side.type == CU_MEMORYTYPE_ARRAY ? cudaSuccess : CheckPitch(side.pitch, width);
}

// Passes the rows to the driver.
struct AtOnce {
  cudaError_t operator()(const CUDA_MEMCPY2D& copy) const {
    return ToRuntime(cuMemcpy2DUnaligned(&copy));
  }
};
struct InStream {
  cudaStream_t stream;
  cudaError_t operator()(const CUDA_MEMCPY2D& copy) const {
    return ToRuntime(cuMemcpy2DAsync(&copy, stream));
  }
};

template <typename Copy>
cudaError_t CopyRows(const CopyOperand& to, const CopyOperand& from, size_t width, size_t height,
                     cudaMemcpyKind kind, const Copy& copy) {
  if (cudaError_t error = CheckRows(to, width, kind); error != cudaSuccess) return error;
  if (cudaError_t error = CheckRows(from, width, kind); error != cudaSuccess) return error;
  return copy(MakeCopy<CUDA_MEMCPY2D>(to, from, width, height));
}

// The bytes of a row; 0: not an array of elements.
size_t RowOf(CUarray array) {
  CUDA_ARRAY3D_DESCRIPTOR shape{};
  return ElementBytesOf(reinterpret_cast<cudaArray_const_t>(array), &shape) * shape.Width;
}

void Advance(CopyOperand* side, size_t bytes, size_t row) {
  if (side->type == CU_MEMORYTYPE_HOST) {
    side->host = static_cast<const char*>(side->host) + bytes;
    return;
  }
  if (side->type != CU_MEMORYTYPE_ARRAY) {
    side->device += bytes;
    return;
  }
  side->y += (side->x + bytes) / row;
  side->x = (side->x + bytes) % row;
}

// A run of bytes goes on in the next row: its first row, the full ones, its last.
template <typename Copy>
cudaError_t CopyRun(CopyOperand to, CopyOperand from, size_t count, cudaMemcpyKind kind,
                    const Copy& copy) {
  if (!IsKind(kind)) return cudaErrorInvalidMemcpyDirection;
  const size_t to_row = to.type == CU_MEMORYTYPE_ARRAY ? RowOf(to.array) : RowOf(from.array);
  const size_t from_row = from.type == CU_MEMORYTYPE_ARRAY ? RowOf(from.array) : to_row;
  if (to_row == 0 || from_row == 0 || to.x >= to_row || from.x >= from_row)
    return cudaErrorInvalidValue;
  while (count > 0) {
    const size_t width = std::min({count, to_row - to.x, from_row - from.x});
    const bool full = width == to_row && width == from_row;
    const size_t height = full ? count / width : 1;
    to.pitch = to.type == CU_MEMORYTYPE_ARRAY ? 0 : width;
    from.pitch = from.type == CU_MEMORYTYPE_ARRAY ? 0 : width;
    if (cudaError_t error = copy(MakeCopy<CUDA_MEMCPY2D>(to, from, width, height));
        error != cudaSuccess)
      return error;
    Advance(&to, width * height, to_row);
    Advance(&from, width * height, from_row);
    count -= width * height;
  }
  return cudaSuccess;
}

}  // namespace

cudaError_t Memcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch,
                            size_t width, size_t height, cudaMemcpyKind kind) {
  return CopyRows(At(to, x, y), From(from, pitch, kind), width, height, kind, AtOnce{});
}
cudaError_t Memcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch,
                                 size_t width, size_t height, cudaMemcpyKind kind,
                                 cudaStream_t stream) {
  return CopyRows(At(to, x, y), From(from, pitch, kind), width, height, kind, InStream{stream});
}
cudaError_t Memcpy2DFromArray(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y,
                              size_t width, size_t height, cudaMemcpyKind kind) {
  return CopyRows(To(to, pitch, kind), At(from, x, y), width, height, kind, AtOnce{});
}
cudaError_t Memcpy2DFromArrayAsync(void* to, size_t pitch, cudaArray_const_t from, size_t x,
                                   size_t y, size_t width, size_t height, cudaMemcpyKind kind,
                                   cudaStream_t stream) {
  return CopyRows(To(to, pitch, kind), At(from, x, y), width, height, kind, InStream{stream});
}
cudaError_t Memcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from,
                                 size_t from_x, size_t from_y, size_t width, size_t height,
                                 cudaMemcpyKind kind) {
  return CopyRows(At(to, to_x, to_y), At(from, from_x, from_y), width, height, kind, AtOnce{});
}

cudaError_t MemcpyToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t count,
                          cudaMemcpyKind kind) {
  return CopyRun(At(to, x, y), From(from, 0, kind), count, kind, AtOnce{});
}
cudaError_t MemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void* from, size_t count,
                               cudaMemcpyKind kind, cudaStream_t stream) {
  return CopyRun(At(to, x, y), From(from, 0, kind), count, kind, InStream{stream});
}
cudaError_t MemcpyFromArray(void* to, cudaArray_const_t from, size_t x, size_t y, size_t count,
                            cudaMemcpyKind kind) {
  return CopyRun(To(to, 0, kind), At(from, x, y), count, kind, AtOnce{});
}
cudaError_t MemcpyFromArrayAsync(void* to, cudaArray_const_t from, size_t x, size_t y, size_t count,
                                 cudaMemcpyKind kind, cudaStream_t stream) {
  return CopyRun(To(to, 0, kind), At(from, x, y), count, kind, InStream{stream});
}
cudaError_t MemcpyArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from,
                               size_t from_x, size_t from_y, size_t count, cudaMemcpyKind kind) {
  return CopyRun(At(to, to_x, to_y), At(from, from_x, from_y), count, kind, AtOnce{});
}

}  // namespace graphkit::soft::runtime
