#include "plugins/soft_cuda/runtime/params.h"

#include "plugins/soft_cuda/device/properties.h"
#include "plugins/soft_cuda/model/copy_operand.h"
#include "plugins/soft_cuda/runtime/start.h"

namespace graphkit::soft::runtime {
namespace {

cudaMemcpyKind KindOf(CUmemorytype from, CUmemorytype to) {
  if (from == CU_MEMORYTYPE_UNIFIED || to == CU_MEMORYTYPE_UNIFIED) return cudaMemcpyDefault;
  if (from == CU_MEMORYTYPE_HOST)
    return to == CU_MEMORYTYPE_HOST ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice;
  return to == CU_MEMORYTYPE_HOST ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
}

// One side of the runtime's description.
struct Side {
  cudaArray_t array;
  cudaPitchedPtr memory;
  cudaPos at;
};

// Exactly one of array and pointer.
bool IsOne(const Side& side) { return (side.array != nullptr) != (side.memory.ptr != nullptr); }

// A single row may be of any length.
cudaError_t CheckSidePitch(const Side& side, const cudaExtent& extent, size_t element) {
  const size_t width = extent.width * element;
  const size_t pitch = side.memory.pitch;
  const bool one_row = extent.height <= 1 && extent.depth <= 1 && pitch == side.at.x + width;
  if (side.array != nullptr || pitch == 0 || one_row) return cudaSuccess;
  if (cudaError_t error = CheckPitch(pitch, width); error != cudaSuccess) return error;
  return side.at.x <= pitch - width ? cudaSuccess : cudaErrorInvalidValue;
}

// The bytes of the elements that the extent is counted in: those of the arrays, else single bytes.
// 0: the arrays don't fit each other, or are none.
size_t ElementOf(cudaArray_t from, cudaArray_t to) {
  if (from == nullptr && to == nullptr) return 1;
  const size_t first = ElementBytesOf(from != nullptr ? from : to);
  return from == nullptr || to == nullptr || ElementBytesOf(to) == first ? first : 0;
}

cudaError_t Check(const Side& from, const Side& to, const cudaExtent& extent, size_t* element) {
  if (!IsOne(from) || !IsOne(to)) return cudaErrorInvalidValue;
  *element = ElementOf(from.array, to.array);
  if (*element == 0) return cudaErrorInvalidValue;
  const cudaError_t error = CheckSidePitch(from, extent, *element);
  return error == cudaSuccess ? CheckSidePitch(to, extent, *element) : error;
}

CopyOperand OperandOf(const Side& side, CUmemorytype type, size_t element) {
  if (side.array != nullptr)
    return InArray(Driver(side.array), side.at.x * element, side.at.y, side.at.z);
  CopyOperand memory = InMemory(type, Address(side.memory.ptr), side.memory.pitch);
  memory.x = side.at.x;
  memory.y = side.at.y;
  memory.z = side.at.z;
  memory.height = side.memory.ysize;
  return memory;
}

}  // namespace

bool IsKind(cudaMemcpyKind kind) {
  return kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault;
}

CUmemorytype SourceType(cudaMemcpyKind kind) {
  if (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost) return CU_MEMORYTYPE_HOST;
  return kind == cudaMemcpyDefault ? CU_MEMORYTYPE_UNIFIED : CU_MEMORYTYPE_DEVICE;
}

CUmemorytype TargetType(cudaMemcpyKind kind) {
  if (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost) return CU_MEMORYTYPE_HOST;
  return kind == cudaMemcpyDefault ? CU_MEMORYTYPE_UNIFIED : CU_MEMORYTYPE_DEVICE;
}

cudaError_t CheckPitch(size_t pitch, size_t width) {
  if (pitch < width) return cudaErrorInvalidPitchValue;
  return pitch < size_t{kMostPitch} ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t CheckPitches(size_t to, size_t from, size_t width) {
  const cudaError_t error = CheckPitch(to, width);
  return error == cudaSuccess ? CheckPitch(from, width) : error;
}

cudaError_t ToDriver(const cudaMemcpy3DParms& p, CUDA_MEMCPY3D* out) {
  if (!IsKind(p.kind)) return cudaErrorInvalidMemcpyDirection;
  const Side from{p.srcArray, p.srcPtr, p.srcPos};
  const Side to{p.dstArray, p.dstPtr, p.dstPos};
  size_t element = 0;
  if (cudaError_t error = Check(from, to, p.extent, &element); error != cudaSuccess) return error;
  *out = MakeCopy<CUDA_MEMCPY3D>(OperandOf(to, TargetType(p.kind), element),
                                 OperandOf(from, SourceType(p.kind), element),
                                 p.extent.width * element, p.extent.height, p.extent.depth);
  return cudaSuccess;
}

cudaError_t ToDriver(const cudaMemcpy3DPeerParms& p, CUDA_MEMCPY3D_PEER* out) {
  const Side from{p.srcArray, p.srcPtr, p.srcPos};
  const Side to{p.dstArray, p.dstPtr, p.dstPos};
  size_t element = 0;
  if (cudaError_t error = Check(from, to, p.extent, &element); error != cudaSuccess) return error;
  *out = MakeCopy<CUDA_MEMCPY3D_PEER>(OperandOf(to, CU_MEMORYTYPE_DEVICE, element),
                                      OperandOf(from, CU_MEMORYTYPE_DEVICE, element),
                                      p.extent.width * element, p.extent.height, p.extent.depth);
  return cudaSuccess;
}

cudaMemcpy3DParms FromDriver(const CUDA_MEMCPY3D& c) {
  cudaMemcpy3DParms p{};
  p.kind = KindOf(c.srcMemoryType, c.dstMemoryType);
  const bool from_array = c.srcMemoryType == CU_MEMORYTYPE_ARRAY;
  const bool to_array = c.dstMemoryType == CU_MEMORYTYPE_ARRAY;
  if (from_array) p.srcArray = reinterpret_cast<cudaArray_t>(c.srcArray);
  if (to_array) p.dstArray = reinterpret_cast<cudaArray_t>(c.dstArray);
  const size_t found = ElementOf(p.srcArray, p.dstArray);
  const size_t element = found != 0 ? found : 1;
  const void* from = c.srcMemoryType == CU_MEMORYTYPE_HOST
                         ? c.srcHost
                         : reinterpret_cast<const void*>(c.srcDevice);
  void* to =
      c.dstMemoryType == CU_MEMORYTYPE_HOST ? c.dstHost : reinterpret_cast<void*>(c.dstDevice);
  if (!from_array) p.srcPtr = {const_cast<void*>(from), c.srcPitch, c.srcPitch, c.srcHeight};
  if (!to_array) p.dstPtr = {to, c.dstPitch, c.dstPitch, c.dstHeight};
  p.srcPos = {c.srcXInBytes / (from_array ? element : 1), c.srcY, c.srcZ};
  p.dstPos = {c.dstXInBytes / (to_array ? element : 1), c.dstY, c.dstZ};
  p.extent = {c.WidthInBytes / element, c.Height, c.Depth};
  return p;
}

cudaMemcpy3DParms LinearParms(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  cudaMemcpy3DParms p{};
  p.srcPtr = {const_cast<void*>(from), bytes, bytes, 1};
  p.dstPtr = {to, bytes, bytes, 1};
  p.extent = {bytes, 1, 1};
  p.kind = kind;
  return p;
}

CUDA_MEMCPY2D FlatCopy(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                       size_t height, cudaMemcpyKind kind) {
  return MakeCopy<CUDA_MEMCPY2D>(InMemory(TargetType(kind), Address(to), to_pitch),
                                 InMemory(SourceType(kind), Address(from), from_pitch), width,
                                 height);
}

}  // namespace graphkit::soft::runtime
