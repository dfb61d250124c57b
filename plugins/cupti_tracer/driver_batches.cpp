// Calls that stand for several operations: batches of copies, of decompressions and of operations
// on values in memory. A single wait or write of a value is a batch of one. What a call that failed
// was given isn't read.
#include <cuda.h>
#include <cupti.h>

#include "plugins/cupti_tracer/driver_decoders.h"
#include "plugins/cupti_tracer/driver_node_params.h"
#include "plugins/cupti_tracer/driver_params.h"

namespace graphkit::decode {
namespace {

void Add(Operation& operation, uint64_t address, int64_t length, bool write) {
  operation.touches[operation.touch_count++] = {address, length, write};
}

// Copies between pointers; both versions of the call begin alike.
template <typename Params>
void Copies(const CallParams& params, Call& call) {
  const auto& p = As<Params>(params);
  call.stream = StreamHandle(p.hStream, params.row->per_thread);
  call.work_kind = NodeKind::kMemcpy;
  if (!params.done) return;
  call.operations.resize(p.count);
  for (size_t i = 0; i < p.count; ++i) {
    const auto length = static_cast<int64_t>(p.sizes[i]);
    Add(call.operations[i], p.dsts[i], length, true);
    Add(call.operations[i], p.srcs[i], length, false);
  }
}

// An end of a copy of a volume that is a pointer. Rows and layers without a length of their own lie
// close together. The other end may be an array, and the size of its elements isn't told.
void AddEnd(const CUmemcpy3DOperand& end, const CUmemcpy3DOperand& other, const CUextent3D& extent,
            bool write, Operation& operation) {
  if (end.type != CU_MEMCPY_OPERAND_TYPE_POINTER) return;
  const uint64_t row = end.op.ptr.rowLength != 0 ? end.op.ptr.rowLength : extent.width;
  const uint64_t rows = end.op.ptr.layerHeight != 0 ? end.op.ptr.layerHeight : extent.height;
  const uint64_t bytes = Span(extent.width, extent.height, extent.depth, row, rows);
  const bool is_known = other.type == CU_MEMCPY_OPERAND_TYPE_POINTER;
  Add(operation, end.op.ptr.ptr, is_known ? static_cast<int64_t>(bytes) : -1, write);
}

template <typename Params>
void Volumes(const CallParams& params, Call& call) {
  const auto& p = As<Params>(params);
  call.stream = StreamHandle(p.hStream, params.row->per_thread);
  call.work_kind = NodeKind::kMemcpy;
  if (!params.done) return;
  call.operations.resize(p.numOps);
  for (size_t i = 0; i < p.numOps; ++i) {
    const CUDA_MEMCPY3D_BATCH_OP& copy = p.opList[i];
    AddEnd(copy.dst, copy.src, copy.extent, true, call.operations[i]);
    AddEnd(copy.src, copy.dst, copy.extent, false, call.operations[i]);
  }
}

void OneValue(const CallParams& params, int64_t length, bool write, Call& call) {
  const auto& p = As<cuStreamWaitValue32_v2_params>(params);  // all eight begin alike
  call.stream = StreamHandle(p.stream, params.row->per_thread);
  call.work_kind = NodeKind::kBatchMemOp;
  Add(call.operations.emplace_back(), p.addr, length, write);
}

Operation Read(const CUstreamBatchMemOpParams& op) {
  Operation operation;
  switch (op.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
      Add(operation, op.waitValue.address, 4, false);
      break;
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
      Add(operation, op.waitValue.address, 8, false);
      break;
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
      Add(operation, op.writeValue.address, 4, true);
      break;
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      Add(operation, op.writeValue.address, 8, true);
      break;
    case CU_STREAM_MEM_OP_BARRIER:
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
      break;
    default:
      operation.complete = false;
  }
  return operation;
}

}  // namespace

void MemoryOperations(const CallParams& params, const CUstreamBatchMemOpParams* operations,
                      size_t count, Call& call) {
  call.work_kind = NodeKind::kBatchMemOp;
  if (!params.done) return;
  call.operations.reserve(count);
  for (size_t i = 0; i < count; ++i) call.operations.push_back(Read(operations[i]));
}

void CopyBatchV1(const CallParams& params, Call& call) {
  Copies<cuMemcpyBatchAsync_params>(params, call);
}
void CopyBatch(const CallParams& params, Call& call) {
  Copies<cuMemcpyBatchAsync_v2_params>(params, call);
}
void Copy3DBatchV1(const CallParams& params, Call& call) {
  Volumes<cuMemcpy3DBatchAsync_params>(params, call);
}
void Copy3DBatch(const CallParams& params, Call& call) {
  Volumes<cuMemcpy3DBatchAsync_v2_params>(params, call);
}

// The whole batch is one unit of work.
void Decompress(const CallParams& params, Call& call) {
  const auto& p = As<cuMemBatchDecompressAsync_params>(params);
  call.stream = StreamHandle(p.stream, params.row->per_thread);
  for (size_t i = 0; params.done && i < p.count; ++i) {
    const CUmemDecompressParams& one = p.paramsArray[i];
    Operation& operation = call.operations.emplace_back();
    Add(operation, Address(one.dst), -1, true);  // the number of bytes may be left out
    Add(operation, Address(one.src), static_cast<int64_t>(one.srcNumBytes), false);
    Add(operation, Address(one.dstActBytes), 4, true);
  }
}

void WaitValue32(const CallParams& params, Call& call) { OneValue(params, 4, false, call); }
void WaitValue64(const CallParams& params, Call& call) { OneValue(params, 8, false, call); }
void WriteValue32(const CallParams& params, Call& call) { OneValue(params, 4, true, call); }
void WriteValue64(const CallParams& params, Call& call) { OneValue(params, 8, true, call); }

void ValueBatch(const CallParams& params, Call& call) {
  const auto& p = As<cuStreamBatchMemOp_v2_params>(params);
  call.stream = StreamHandle(p.stream, params.row->per_thread);
  MemoryOperations(params, p.paramArray, p.count, call);
}

}  // namespace graphkit::decode
