// Copies to and from the first row of an array, and batches of copies of volumes.
#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/rules.h"
#include "plugins/soft_cuda/driver/submit.h"
#include "plugins/soft_cuda/model/array.h"
#include "plugins/soft_cuda/model/execute.h"

namespace graphkit::soft::driver {
namespace {

CUDA_MEMCPY3D Row(size_t bytes) {
  CUDA_MEMCPY3D copy{};
  copy.WidthInBytes = bytes;
  copy.Height = copy.Depth = 1;
  return copy;
}

void SetSource(CUDA_MEMCPY3D* copy, CUarray array, size_t offset) {
  copy->srcMemoryType = CU_MEMORYTYPE_ARRAY;
  copy->srcArray = array;
  copy->srcXInBytes = offset;
}

void SetTarget(CUDA_MEMCPY3D* copy, CUarray array, size_t offset) {
  copy->dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy->dstArray = array;
  copy->dstXInBytes = offset;
}

CUDA_MEMCPY3D HostToArray(CUarray to, size_t offset, const void* from, size_t bytes) {
  CUDA_MEMCPY3D copy = Row(bytes);
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = from;
  SetTarget(&copy, to, offset);
  return copy;
}

CUDA_MEMCPY3D ArrayToHost(void* to, CUarray from, size_t offset, size_t bytes) {
  CUDA_MEMCPY3D copy = Row(bytes);
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = to;
  SetSource(&copy, from, offset);
  return copy;
}

// The size of the elements that the extent of a copy is counted in; 0: not a copy.
size_t ElementOf(const CUmemcpy3DOperand& a, const CUmemcpy3DOperand& b) {
  for (const CUmemcpy3DOperand* operand : {&a, &b}) {
    if (operand->type != CU_MEMCPY_OPERAND_TYPE_ARRAY) continue;
    const auto* array = Resolve<Array>(operand->op.array.array);
    return array != nullptr ? array->element : 0;
  }
  return 1;
}

bool IsOperand(const CUmemcpy3DOperand& operand) {
  return operand.type == CU_MEMCPY_OPERAND_TYPE_POINTER ||
         operand.type == CU_MEMCPY_OPERAND_TYPE_ARRAY;
}

void SetSource(CUDA_MEMCPY3D* copy, const CUmemcpy3DOperand& from, size_t element) {
  if (from.type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
    SetSource(copy, from.op.array.array, from.op.array.offset.x * element);
    copy->srcY = from.op.array.offset.y;
    copy->srcZ = from.op.array.offset.z;
    return;
  }
  copy->srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy->srcDevice = from.op.ptr.ptr;
  copy->srcPitch = from.op.ptr.rowLength * element;
  copy->srcHeight = from.op.ptr.layerHeight;
}

void SetTarget(CUDA_MEMCPY3D* copy, const CUmemcpy3DOperand& to, size_t element) {
  if (to.type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
    SetTarget(copy, to.op.array.array, to.op.array.offset.x * element);
    copy->dstY = to.op.array.offset.y;
    copy->dstZ = to.op.array.offset.z;
    return;
  }
  copy->dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy->dstDevice = to.op.ptr.ptr;
  copy->dstPitch = to.op.ptr.rowLength * element;
  copy->dstHeight = to.op.ptr.layerHeight;
}

CUresult Read(const CUDA_MEMCPY3D_BATCH_OP& op, CUDA_MEMCPY3D* out) {
  const size_t element = ElementOf(op.src, op.dst);
  const CUextent3D& extent = op.extent;
  if (!IsOperand(op.src) || !IsOperand(op.dst) || element == 0) return CUDA_ERROR_INVALID_VALUE;
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0 ||
      !IsAccessOrder(op.srcAccessOrder))
    return CUDA_ERROR_INVALID_VALUE;
  *out = {};
  SetSource(out, op.src, element);
  SetTarget(out, op.dst, element);
  out->WidthInBytes = extent.width * element;
  out->Height = extent.height;
  out->Depth = extent.depth;
  return CheckCopy(*out);
}

}  // namespace

CUresult MemcpyHtoA_v2(CUarray to, size_t offset, const void* from, size_t bytes) {
  return CopyAtOnce(HostToArray(to, offset, from, bytes));
}
CUresult MemcpyHtoAAsync_v2(CUarray to, size_t offset, const void* from, size_t bytes,
                            CUstream stream) {
  return EnqueueCopy(HostToArray(to, offset, from, bytes), stream);
}
CUresult MemcpyAtoH_v2(void* to, CUarray from, size_t offset, size_t bytes) {
  return CopyAtOnce(ArrayToHost(to, from, offset, bytes));
}
CUresult MemcpyAtoHAsync_v2(void* to, CUarray from, size_t offset, size_t bytes, CUstream stream) {
  return EnqueueCopy(ArrayToHost(to, from, offset, bytes), stream);
}
CUresult MemcpyDtoA_v2(CUarray to, size_t offset, CUdeviceptr from, size_t bytes) {
  CUDA_MEMCPY3D copy = Row(bytes);
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = from;
  SetTarget(&copy, to, offset);
  return CopyAtOnce(copy);
}
CUresult MemcpyAtoD_v2(CUdeviceptr to, CUarray from, size_t offset, size_t bytes) {
  CUDA_MEMCPY3D copy = Row(bytes);
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = to;
  SetSource(&copy, from, offset);
  return CopyAtOnce(copy);
}
CUresult MemcpyAtoA_v2(CUarray to, size_t to_offset, CUarray from, size_t from_offset,
                       size_t bytes) {
  CUDA_MEMCPY3D copy = Row(bytes);
  SetSource(&copy, from, from_offset);
  SetTarget(&copy, to, to_offset);
  return CopyAtOnce(copy);
}

CUresult Memcpy3DBatchAsync_v2(size_t count, CUDA_MEMCPY3D_BATCH_OP* operations,
                               unsigned long long flags, CUstream stream) {
  if (count == 0 || operations == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (stream == nullptr || stream == CU_STREAM_LEGACY) return CUDA_ERROR_INVALID_VALUE;
  std::vector<CUDA_MEMCPY3D> copies(count);
  for (size_t i = 0; i < count; ++i) {
    const Lock lock = LockDevice();
    if (CUresult error = Read(operations[i], &copies[i]); error != CUDA_SUCCESS) return error;
  }
  for (const CUDA_MEMCPY3D& copy : copies) {
    if (CUresult error = EnqueueCopy(copy, stream); error != CUDA_SUCCESS) return error;
  }
  return CUDA_SUCCESS;
}

}  // namespace graphkit::soft::driver
