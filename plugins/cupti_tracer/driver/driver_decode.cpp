#include "plugins/cupti_tracer/driver/driver_decode.h"

namespace graphkit {

AccessRows Volume::Rows() const {
  const bool together = pitch == width && (depth <= 1 || layer == height);
  const bool one_layer = depth <= 1 || layer == height;
  if (width == 0 || together || width > pitch || (height <= 1 && depth <= 1)) return {};
  if (!one_layer && height > layer) return {};
  if (pitch > UINT32_MAX || layer > UINT32_MAX) return {};
  AccessRows rows{static_cast<uint32_t>(width), static_cast<uint32_t>(pitch)};
  if (!one_layer) {
    rows.height = static_cast<uint32_t>(height);
    rows.layer = static_cast<uint32_t>(layer);
  }
  return rows;
}

void ParamReader::Read(const CUgraphNodeParams& p) {
  switch (p.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return Read(p.kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return Read(p.memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return Read(p.memset);
    case CU_GRAPH_NODE_TYPE_GRAPH:
      call_.original = Address(p.graph.graph);
      call_.moves_graph = p.graph.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
      return;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return Read(p.eventWait);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return Read(p.eventRecord);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      return Read(p.alloc);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return Read(p.free);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      return Read(p.memOp);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return Conditional(p.conditional);
    default:
      return;
  }
}

void ParamReader::Conditional(const CUDA_CONDITIONAL_NODE_PARAMS& p) {
  const bool known = p.type <= CU_GRAPH_COND_TYPE_SWITCH;  // others may come
  call_.conditional = known ? static_cast<ConditionalType>(p.type) : ConditionalType::kUnknown;
  if (!params_.done || p.phGraph_out == nullptr) return;
  static_assert(sizeof(CUgraph) == sizeof(uint64_t));
  call_.bodies = reinterpret_cast<const uint64_t*>(p.phGraph_out);
  call_.body_count = p.size;
}

// A kernel's arguments, as pointers or as one buffer.
void ParamReader::Arguments(void** arguments, void** extra) {
  KernelWork& work = call_.kernel;
  work.arguments = arguments;
  for (; extra != nullptr && *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) work.packed = static_cast<const char*>(extra[1]);
    if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) {
      work.packed_bytes = *static_cast<const size_t*>(extra[1]);
    }
  }
}

void ParamReader::Attributes(const CUlaunchAttribute* attributes, unsigned count) {
  for (unsigned i = 0; attributes != nullptr && i < count; ++i) {
    const CUlaunchAttributeValue& value = attributes[i].value;
    KernelWork& work = call_.kernel;
    switch (attributes[i].id) {
      case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
        work.programmatic_serialization = value.programmaticStreamSerializationAllowed != 0;
        break;
      case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
        work.programmatic_event = Address(value.programmaticEvent.event);
        work.at_block_start = value.programmaticEvent.triggerAtBlockStart != 0;
        break;
      case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
        work.updatable = value.deviceUpdatableKernelNode.deviceUpdatable != 0;
        break;
      case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
        work.completion_event = Address(value.launchCompletionEvent.event);
        break;
      default:
        break;
    }
  }
}

void ParamReader::Touch(uint64_t address, const Volume& volume, bool write) {
  call_.work_kind = NodeKind::kMemcpy;
  call_.own.Touch(address, static_cast<int64_t>(volume.Span()), write, volume.Rows());
}

void ParamReader::TouchEnd(CUmemorytype kind, const void* host, CUdeviceptr device, uint64_t offset,
                           const Volume& volume, bool write) {
  if (kind == CU_MEMORYTYPE_HOST) {
    Touch(Address(host) + offset, volume, write);
    call_.to_host |= write;
  }
  if (kind == CU_MEMORYTYPE_DEVICE || kind == CU_MEMORYTYPE_UNIFIED)
    Touch(device + offset, volume, write);
}

void ParamReader::Operations(const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS*, size_t) {
  call_.work_kind = NodeKind::kExternalSemaphoreSignal;
}
void ParamReader::Operations(const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS*, size_t) {
  call_.work_kind = NodeKind::kExternalSemaphoreWait;
}

// The whole batch is one unit of work.
void ParamReader::Operations(const CUmemDecompressParams* batch, size_t count) {
  for (size_t i = 0; params_.done && i < count; ++i) {
    Operation& operation = call_.operations.emplace_back();
    operation.Touch(Address(batch[i].dst), -1, true);  // the number of bytes may be left out
    operation.Touch(Address(batch[i].src), static_cast<int64_t>(batch[i].srcNumBytes), false);
    operation.Touch(Address(batch[i].dstActBytes), 4, true);
  }
}

// Waits for values and writes of values.
void ParamReader::Operations(const CUstreamBatchMemOpParams* batch, size_t count) {
  call_.work_kind = NodeKind::kBatchMemOp;
  for (size_t i = 0; params_.done && i < count; ++i) {
    const CUstreamBatchMemOpParams& op = batch[i];
    Operation& operation = call_.operations.emplace_back();
    switch (op.operation) {
      case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        operation.Touch(op.waitValue.address, 4, false);
        break;
      case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        operation.Touch(op.waitValue.address, 8, false);
        break;
      case CU_STREAM_MEM_OP_WRITE_VALUE_32:
        operation.Touch(op.writeValue.address, 4, true);
        break;
      case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        operation.Touch(op.writeValue.address, 8, true);
        break;
      case CU_STREAM_MEM_OP_BARRIER:
      case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
        break;
      default:
        operation.complete = false;
    }
  }
}

// By cuda.h's sizes of the types; with the gaps that packed ones have.
int64_t ParamReader::Extent(CUtensorMapDataType type, uint32_t rank, const cuuint64_t* sizes,
                            const cuuint64_t* strides) {
  constexpr uint64_t kBits[] = {8, 16, 32, 32, 64, 64, 16, 32, 64, 16, 32, 32, 32, 4, 8, 8};
  if (static_cast<uint32_t>(type) >= std::size(kBits) || rank == 0) return -1;
  uint64_t bytes = (sizes[0] * kBits[type] + 7) / 8;
  for (uint32_t i = 1; i < rank; ++i) bytes += (sizes[i] - 1) * strides[i - 1];
  return static_cast<int64_t>(bytes);
}

// An end that is a pointer. Rows and layers without a length of their own lie close together. The
// other end may be an array, and the size of its elements isn't told.
static void TouchVolume(const CUmemcpy3DOperand& end, const CUmemcpy3DOperand& other,
                        const CUextent3D& extent, bool write, Operation& operation) {
  if (end.type != CU_MEMCPY_OPERAND_TYPE_POINTER) return;
  Volume volume{extent.width, extent.height, extent.depth, extent.width, extent.height};
  if (end.op.ptr.rowLength != 0) volume.pitch = end.op.ptr.rowLength;
  if (end.op.ptr.layerHeight != 0) volume.layer = end.op.ptr.layerHeight;
  const bool is_known = other.type == CU_MEMCPY_OPERAND_TYPE_POINTER;
  const auto bytes = is_known ? static_cast<int64_t>(volume.Span()) : -1;
  operation.Touch(end.op.ptr.ptr, bytes, write, is_known ? volume.Rows() : AccessRows{});
}

void ParamReader::Operations(const CUDA_MEMCPY3D_BATCH_OP* batch, size_t count) {
  call_.work_kind = NodeKind::kMemcpy;
  for (size_t i = 0; params_.done && i < count; ++i) {
    Operation& operation = call_.operations.emplace_back();
    TouchVolume(batch[i].dst, batch[i].src, batch[i].extent, true, operation);
    TouchVolume(batch[i].src, batch[i].dst, batch[i].extent, false, operation);
  }
}

}  // namespace graphkit
