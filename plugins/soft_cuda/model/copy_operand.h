// One side of a copy, in the fields that the driver's descriptions of copies share: CUDA_MEMCPY2D,
// CUDA_MEMCPY3D and CUDA_MEMCPY3D_PEER.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>

namespace graphkit::soft {

struct CopyOperand {
  CUmemorytype type{};
  const void* host = nullptr;
  CUdeviceptr device = 0;
  CUarray array = nullptr;
  size_t x = 0;  // bytes
  size_t y = 0;
  size_t z = 0;
  size_t pitch = 0;   // bytes; 0: as wide as the copy
  size_t height = 0;  // 0: as high as the copy
  size_t lod = 0;
};

inline CopyOperand InMemory(CUmemorytype type, uint64_t address, size_t pitch = 0) {
  const bool host = type == CU_MEMORYTYPE_HOST;
  CopyOperand operand{.type = type, .pitch = pitch};
  operand.host = host ? reinterpret_cast<const void*>(address) : nullptr;
  operand.device = host ? 0 : address;
  return operand;
}

inline CopyOperand InArray(CUarray array, size_t x, size_t y = 0, size_t z = 0) {
  return {.type = CU_MEMORYTYPE_ARRAY, .array = array, .x = x, .y = y, .z = z};
}

// Width in bytes.
template <typename Copy>
Copy MakeCopy(const CopyOperand& to, const CopyOperand& from, size_t width, size_t height,
              size_t depth = 1) {
  Copy c{};
  c.srcMemoryType = from.type;
  c.srcHost = from.host;
  c.srcDevice = from.device;
  c.srcArray = from.array;
  c.srcXInBytes = from.x;
  c.srcY = from.y;
  c.srcPitch = from.pitch;
  c.dstMemoryType = to.type;
  c.dstHost = const_cast<void*>(to.host);
  c.dstDevice = to.device;
  c.dstArray = to.array;
  c.dstXInBytes = to.x;
  c.dstY = to.y;
  c.dstPitch = to.pitch;
  c.WidthInBytes = width;
  c.Height = height;
  if constexpr (requires { c.Depth; }) {
    c.srcZ = from.z;
    c.srcHeight = from.height;
    c.dstZ = to.z;
    c.dstHeight = to.height;
    c.Depth = depth;
  }
  return c;
}

template <typename Copy>
CopyOperand SourceOf(const Copy& c) {
  CopyOperand from{c.srcMemoryType, c.srcHost, c.srcDevice, c.srcArray, c.srcXInBytes, c.srcY};
  from.pitch = c.srcPitch;
  if constexpr (requires { c.Depth; }) {
    from.z = c.srcZ;
    from.height = c.srcHeight;
    from.lod = c.srcLOD;
  }
  return from;
}

template <typename Copy>
CopyOperand TargetOf(const Copy& c) {
  CopyOperand to{c.dstMemoryType, c.dstHost, c.dstDevice, c.dstArray, c.dstXInBytes, c.dstY};
  to.pitch = c.dstPitch;
  if constexpr (requires { c.Depth; }) {
    to.z = c.dstZ;
    to.height = c.dstHeight;
    to.lod = c.dstLOD;
  }
  return to;
}

// The same copy, described with depth and without contexts.
template <typename Copy>
CUDA_MEMCPY3D ToVolume(const Copy& c) {
  size_t depth = 1;
  if constexpr (requires { c.Depth; }) depth = c.Depth;
  return MakeCopy<CUDA_MEMCPY3D>(TargetOf(c), SourceOf(c), c.WidthInBytes, c.Height, depth);
}

}  // namespace graphkit::soft
