// Copies to and from the first row of an array, and batches of copies of volumes.
#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/rules/copy_rules.h"
#include "plugins/soft_cuda/driver/stream/copy.h"
#include "plugins/soft_cuda/driver/stream/submit.h"
#include "plugins/soft_cuda/model/array.h"
#include "plugins/soft_cuda/model/copy_operand.h"
#include "plugins/soft_cuda/model/execute.h"

namespace graphkit::soft::driver {
namespace {

CopyOperand OnHost(const void* memory) {
  return InMemory(CU_MEMORYTYPE_HOST, reinterpret_cast<uint64_t>(memory));
}

CUDA_MEMCPY3D Row(const CopyOperand& to, const CopyOperand& from, size_t bytes) {
  return MakeCopy<CUDA_MEMCPY3D>(to, from, bytes, 1);
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

CopyOperand OperandOf(const CUmemcpy3DOperand& side, size_t element) {
  if (side.type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
    const auto& at = side.op.array.offset;
    return InArray(side.op.array.array, at.x * element, at.y, at.z);
  }
  CopyOperand memory =
      InMemory(CU_MEMORYTYPE_UNIFIED, side.op.ptr.ptr, side.op.ptr.rowLength * element);
  memory.height = side.op.ptr.layerHeight;
  return memory;
}

CUresult Read(const CUDA_MEMCPY3D_BATCH_OP& op, CUDA_MEMCPY3D* out) {
  const size_t element = ElementOf(op.src, op.dst);
  const CUextent3D& extent = op.extent;
  if (!IsOperand(op.src) || !IsOperand(op.dst) || element == 0) return CUDA_ERROR_INVALID_VALUE;
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0 ||
      !IsAccessOrder(op.srcAccessOrder))
    return CUDA_ERROR_INVALID_VALUE;
  *out = MakeCopy<CUDA_MEMCPY3D>(OperandOf(op.dst, element), OperandOf(op.src, element),
                                 extent.width * element, extent.height, extent.depth);
  return CheckCopy(*out);
}

}  // namespace

CUresult MemcpyHtoA_v2(CUarray to, size_t offset, const void* from, size_t bytes) {
  return CopyAtOnce(Row(InArray(to, offset), OnHost(from), bytes));
}
CUresult MemcpyHtoAAsync_v2(CUarray to, size_t offset, const void* from, size_t bytes,
                            CUstream stream) {
  return EnqueueCopy(Row(InArray(to, offset), OnHost(from), bytes), stream);
}
CUresult MemcpyAtoH_v2(void* to, CUarray from, size_t offset, size_t bytes) {
  return CopyAtOnce(Row(OnHost(to), InArray(from, offset), bytes));
}
CUresult MemcpyAtoHAsync_v2(void* to, CUarray from, size_t offset, size_t bytes, CUstream stream) {
  return EnqueueCopy(Row(OnHost(to), InArray(from, offset), bytes), stream);
}
CUresult MemcpyDtoA_v2(CUarray to, size_t offset, CUdeviceptr from, size_t bytes) {
  return CopyAtOnce(Row(InArray(to, offset), InMemory(CU_MEMORYTYPE_DEVICE, from), bytes));
}
CUresult MemcpyAtoD_v2(CUdeviceptr to, CUarray from, size_t offset, size_t bytes) {
  return CopyAtOnce(Row(InMemory(CU_MEMORYTYPE_DEVICE, to), InArray(from, offset), bytes));
}
CUresult MemcpyAtoA_v2(CUarray to, size_t to_offset, CUarray from, size_t from_offset,
                       size_t bytes) {
  return CopyAtOnce(Row(InArray(to, to_offset), InArray(from, from_offset), bytes));
}

CUresult Memcpy3DBatchAsync_v2(size_t count, CUDA_MEMCPY3D_BATCH_OP* operations,
                               unsigned long long flags, CUstream stream) {
  if (count == 0 || operations == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (stream == nullptr || stream == CU_STREAM_LEGACY) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult error = RefuseCapture(stream); error != CUDA_SUCCESS) return error;
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
