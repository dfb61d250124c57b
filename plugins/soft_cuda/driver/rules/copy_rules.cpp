#include "plugins/soft_cuda/driver/rules/copy_rules.h"

#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/device/properties.h"
#include "plugins/soft_cuda/model/array.h"

namespace graphkit::soft::driver {
namespace {

// The bytes from the base of an operand to the end of what is moved; false: more than there are.
bool BytesFromBase(const CopyOperand& at, const CUDA_MEMCPY3D& c, size_t* bytes) {
  const size_t pitch = at.pitch != 0 ? at.pitch : c.WidthInBytes + at.x;
  const size_t height = at.height != 0 ? at.height : c.Height + at.y;
  size_t rows = 0;
  return !__builtin_mul_overflow(at.z + c.Depth - 1, height, &rows) &&
         !__builtin_add_overflow(rows, at.y + c.Height - 1, &rows) &&
         !__builtin_mul_overflow(rows, pitch, bytes) &&
         !__builtin_add_overflow(*bytes, at.x + c.WidthInBytes, bytes);
}

// Does the allocation hold so many bytes from the address on? What the host registered isn't known
// that well.
bool HasBytes(const std::pair<const uint64_t, Allocation>& block, CUdeviceptr from, size_t bytes) {
  if (block.second.kind == AllocationKind::kRegistered) return true;
  const size_t size = block.second.size;  // as asked for
  const size_t before = from - block.first;
  return before <= size && bytes <= size - before;
}

CUresult CheckInside(const std::pair<const uint64_t, Allocation>& block, CUdeviceptr address,
                     const CopyOperand& at, const CUDA_MEMCPY3D& c) {
  if (c.WidthInBytes == 0 || c.Height == 0 || c.Depth == 0) return CUDA_SUCCESS;
  size_t bytes = 0;
  const bool inside = BytesFromBase(at, c, &bytes) && HasBytes(block, address, bytes);
  return inside ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// Of the host's memory only the page-locked has ends that are known.
CUresult CheckHostMemory(const CopyOperand& at, const CUDA_MEMCPY3D& c) {
  if (at.host == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto address = reinterpret_cast<CUdeviceptr>(at.host);
  Device& device = Device::Get();
  const auto block = device.FindAllocation(address);
  const bool known =
      block != device.allocations.end() && block->second.kind == AllocationKind::kHost;
  return known ? CheckInside(*block, address, at, c) : CUDA_SUCCESS;
}

CUresult CheckMemory(const CopyOperand& at, const CUDA_MEMCPY3D& c) {
  if (at.type == CU_MEMORYTYPE_HOST) return CheckHostMemory(at, c);
  if (at.type != CU_MEMORYTYPE_DEVICE && at.type != CU_MEMORYTYPE_UNIFIED)
    return CUDA_ERROR_INVALID_VALUE;
  Device& device = Device::Get();
  if (device.virtual_memory.IsReserved(at.device)) {
    size_t bytes = 0;
    const bool usable =
        BytesFromBase(at, c, &bytes) && device.virtual_memory.IsAccessible(at.device, bytes);
    return usable ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  }
  const auto block = device.FindAllocation(at.device);
  if (block == device.allocations.end()) {
    const bool pageable = at.type == CU_MEMORYTYPE_UNIFIED && at.device != 0;
    return pageable ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  }
  return CheckInside(*block, at.device, at, c);
}

CUresult CheckOperand(const CopyOperand& at, const CUDA_MEMCPY3D& c) {
  if (at.lod != 0) return CUDA_ERROR_INVALID_VALUE;
  if (at.type == CU_MEMORYTYPE_ARRAY) {
    const auto* array = Resolve<Array>(at.array);
    return array != nullptr && Holds(*array, at, c) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  }
  const size_t width = c.WidthInBytes + at.x;
  const bool one_row = c.Height <= 1 && c.Depth <= 1 && at.pitch == width;  // may be of any length
  if (at.pitch != 0 && !one_row && (at.pitch < width || at.pitch >= size_t{kMostPitch}))
    return CUDA_ERROR_INVALID_VALUE;
  if (at.height != 0 && at.height < c.Height + at.y) return CUDA_ERROR_INVALID_VALUE;
  return CheckMemory(at, c);
}

}  // namespace

CUresult CheckCopy(const CUDA_MEMCPY3D& c) {
  if (CUresult error = CheckOperand(SourceOf(c), c); error != CUDA_SUCCESS) return error;
  if (CUresult error = CheckOperand(TargetOf(c), c); error != CUDA_SUCCESS) return error;
  if (c.srcMemoryType != CU_MEMORYTYPE_ARRAY || c.dstMemoryType != CU_MEMORYTYPE_ARRAY)
    return CUDA_SUCCESS;
  const bool same = Resolve<Array>(c.srcArray)->element == Resolve<Array>(c.dstArray)->element;
  return same ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUDA_MEMCPY3D WithRows(CUDA_MEMCPY3D c) {
  if (c.srcMemoryType != CU_MEMORYTYPE_ARRAY) {
    if (c.srcPitch == 0) c.srcPitch = c.WidthInBytes + c.srcXInBytes;
    if (c.srcHeight == 0) c.srcHeight = c.Height + c.srcY;
  }
  if (c.dstMemoryType != CU_MEMORYTYPE_ARRAY) {
    if (c.dstPitch == 0) c.dstPitch = c.WidthInBytes + c.dstXInBytes;
    if (c.dstHeight == 0) c.dstHeight = c.Height + c.dstY;
  }
  return c;
}

bool CanSet(const CUDA_MEMSET_NODE_PARAMS& set) {
  size_t width = 0;
  size_t bytes = 0;
  const size_t rows = set.height > 1 ? set.height - 1 : 0;  // before the last one
  if (set.dst % set.elementSize != 0) return false;
  if (__builtin_mul_overflow(set.width, set.elementSize, &width)) return false;
  if (rows > 0 && (set.pitch % set.elementSize != 0 || set.pitch < width)) return false;
  if (__builtin_mul_overflow(rows, set.pitch, &bytes) ||
      __builtin_add_overflow(bytes, width, &bytes))
    return false;
  Device& device = Device::Get();
  if (device.virtual_memory.IsReserved(set.dst))
    return device.virtual_memory.IsAccessible(set.dst, bytes);
  const auto block = device.FindAllocation(set.dst);
  return block != device.allocations.end() && HasBytes(*block, set.dst, bytes);
}

}  // namespace graphkit::soft::driver
