// Values in memory that streams write and wait for: alone, and as batches. A wait for a value that
// the host writes holds a stream.
#include <algorithm>

#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/rules/node_params.h"
#include "plugins/soft_cuda/driver/stream/submit.h"

namespace graphkit::soft::driver {
namespace {

// Values lie at multiples of their size.
bool HasAddress(const CUstreamBatchMemOpParams& op) {
  switch (op.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:  // writeValue has its address in the same place
      return op.waitValue.address != 0 && op.waitValue.address % 4 == 0;
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      return op.waitValue.address != 0 && op.waitValue.address % 8 == 0;
    default:
      return true;
  }
}

CUresult SubmitBatch(CUstream stream, unsigned count, CUstreamBatchMemOpParams* operations,
                     unsigned flags) {
  const Lock lock = LockDevice();
  const Context* context = CurrentContext();
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const CUDA_BATCH_MEM_OP_NODE_PARAMS batch{const_cast<Context*>(context)->handle(), count,
                                            operations, flags};
  NodeParams params;
  if (CUresult error = ReadParams(AnyParams(batch), &params); error != CUDA_SUCCESS) return error;
  if (!std::all_of(operations, operations + count, HasAddress)) return CUDA_ERROR_INVALID_VALUE;
  return Submit(stream, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, std::move(params));
}

// A wait has its fields where a write has them.
CUresult SubmitValue(CUstream stream, CUstreamBatchMemOpType type, CUdeviceptr address,
                     cuuint64_t value, unsigned flags) {
  CUstreamBatchMemOpParams op{};
  op.waitValue.operation = type;
  op.waitValue.address = address;
  op.waitValue.value64 = value;
  op.waitValue.flags = flags;
  return SubmitBatch(stream, 1, &op, 0);
}

}  // namespace

CUresult StreamBatchMemOp_v2(CUstream stream, unsigned int count,
                             CUstreamBatchMemOpParams* operations, unsigned int flags) {
  return SubmitBatch(stream, count, operations, flags);
}

CUresult StreamWaitValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value,
                              unsigned int flags) {
  return SubmitValue(stream, CU_STREAM_MEM_OP_WAIT_VALUE_32, address, value, flags);
}
CUresult StreamWaitValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value,
                              unsigned int flags) {
  return SubmitValue(stream, CU_STREAM_MEM_OP_WAIT_VALUE_64, address, value, flags);
}
CUresult StreamWriteValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value,
                               unsigned int flags) {
  return SubmitValue(stream, CU_STREAM_MEM_OP_WRITE_VALUE_32, address, value, flags);
}
CUresult StreamWriteValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value,
                               unsigned int flags) {
  return SubmitValue(stream, CU_STREAM_MEM_OP_WRITE_VALUE_64, address, value, flags);
}

}  // namespace graphkit::soft::driver
