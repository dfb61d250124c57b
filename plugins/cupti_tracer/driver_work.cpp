// Parameters of work: kernel launches, copies and memsets.
#include <cuda.h>
#include <cupti.h>

#include <type_traits>

#include "plugins/cupti_tracer/driver_decoders.h"
#include "plugins/cupti_tracer/driver_node_params.h"
#include "plugins/cupti_tracer/driver_params.h"

namespace graphkit::decode {
namespace {

void Stream(const CallParams& params, CUstream stream, Call& call) {
  call.stream = StreamHandle(stream, params.row->per_thread);
}

void Read(uint64_t address, uint64_t length, Call& call) {
  call.work_kind = NodeKind::kMemcpy;
  call.touches[call.touch_count++] = {address, static_cast<int64_t>(length), false};
}
void Write(uint64_t address, uint64_t length, Call& call) {
  call.work_kind = NodeKind::kMemcpy;
  call.touches[call.touch_count++] = {address, static_cast<int64_t>(length), true};
}
void Fill(uint64_t address, uint64_t length, Call& call) {
  Write(address, length, call);
  call.work_kind = NodeKind::kMemset;
}
template <typename Set>
void SetBytes(const CallParams& params, Call& call, uint64_t element) {
  const auto& p = As<Set>(params);
  Stream(params, p.hStream, call);
  Fill(p.dstDevice, p.N * element, call);
}

template <typename Set>
void SetRows(const CallParams& params, Call& call, uint64_t element) {
  const auto& p = As<Set>(params);
  Stream(params, p.hStream, call);
  Fill(p.dstDevice, Span(p.Width * element, p.Height, 1, p.dstPitch, p.Height), call);
}

void Attributes(const CUlaunchConfig& config, KernelWork& work) {
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const CUlaunchAttributeValue& value = config.attrs[i].value;
    switch (config.attrs[i].id) {
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

template <typename Launch>
void Shape(const Launch& p, KernelWork& work) {
  work.grid[0] = p.gridDimX, work.grid[1] = p.gridDimY, work.grid[2] = p.gridDimZ;
  work.block[0] = p.blockDimX, work.block[1] = p.blockDimY, work.block[2] = p.blockDimZ;
  work.shared_bytes = p.sharedMemBytes;
}

// All structures for copies have the same names for what they share.
template <typename Copy>
void Ends(const Copy& copy, Call& call) {
  uint64_t rows_in = 1, rows_out = 1, depth = 1, layer_in = 0, layer_out = 0;
  if constexpr (!std::is_same_v<Copy, CUDA_MEMCPY2D>) {
    depth = copy.Depth;
    rows_in = copy.srcHeight, rows_out = copy.dstHeight;
    layer_in = copy.srcZ * rows_in, layer_out = copy.dstZ * rows_out;
  }
  uint64_t in = copy.srcXInBytes + (copy.srcY + layer_in) * copy.srcPitch;
  uint64_t out = copy.dstXInBytes + (copy.dstY + layer_out) * copy.dstPitch;
  uint64_t read = Span(copy.WidthInBytes, copy.Height, depth, copy.srcPitch, rows_in);
  uint64_t written = Span(copy.WidthInBytes, copy.Height, depth, copy.dstPitch, rows_out);
  if (copy.dstMemoryType == CU_MEMORYTYPE_HOST) Write(Address(copy.dstHost) + out, written, call);
  if (copy.dstMemoryType == CU_MEMORYTYPE_DEVICE || copy.dstMemoryType == CU_MEMORYTYPE_UNIFIED) {
    Write(copy.dstDevice + out, written, call);
  }
  if (copy.srcMemoryType == CU_MEMORYTYPE_HOST) Read(Address(copy.srcHost) + in, read, call);
  if (copy.srcMemoryType == CU_MEMORYTYPE_DEVICE || copy.srcMemoryType == CU_MEMORYTYPE_UNIFIED) {
    Read(copy.srcDevice + in, read, call);
  }
}

}  // namespace

void Arguments(void** arguments, void** extra, KernelWork& work) {
  work.arguments = arguments;
  for (; extra != nullptr && *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) work.packed = static_cast<const char*>(extra[1]);
    if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) {
      work.packed_bytes = *static_cast<const size_t*>(extra[1]);
    }
  }
}

void CopyEnds(const CUDA_MEMCPY3D& copy, Call& call) { Ends(copy, call); }

void SetRange(uint64_t address, uint64_t pitch, uint64_t width_bytes, uint64_t height, Call& call) {
  Fill(address, Span(width_bytes, height, 1, pitch, height), call);
}

void KernelLaunch(const CallParams& params, Call& call) {
  const auto& p = As<cuLaunchKernel_params>(params);
  Stream(params, p.hStream, call);
  call.kernel.function = Address(p.f);
  Shape(p, call.kernel);
  Arguments(p.kernelParams, p.extra, call.kernel);
}

void CooperativeLaunch(const CallParams& params, Call& call) {
  const auto& p = As<cuLaunchCooperativeKernel_params>(params);
  Stream(params, p.hStream, call);
  call.kernel.function = Address(p.f);
  Shape(p, call.kernel);
  Arguments(p.kernelParams, nullptr, call.kernel);
}

void LaunchEx(const CallParams& params, Call& call) {
  const auto& p = As<cuLaunchKernelEx_params>(params);
  if (p.config == nullptr) return;
  Stream(params, p.config->hStream, call);
  call.kernel.function = Address(p.f);
  Shape(*p.config, call.kernel);
  if (p.config->attrs != nullptr) Attributes(*p.config, call.kernel);
  Arguments(p.kernelParams, p.extra, call.kernel);
}

void CopyToDevice(const CallParams& params, Call& call) {
  const auto& p = As<cuMemcpyHtoDAsync_v2_params>(params);
  Stream(params, p.hStream, call);
  Write(p.dstDevice, p.ByteCount, call);
  Read(Address(p.srcHost), p.ByteCount, call);
}

void CopyToHost(const CallParams& params, Call& call) {
  const auto& p = As<cuMemcpyDtoHAsync_v2_params>(params);
  Stream(params, p.hStream, call);
  Write(Address(p.dstHost), p.ByteCount, call);
  Read(p.srcDevice, p.ByteCount, call);
}

void CopyOnDevice(const CallParams& params, Call& call) {
  const auto& p = As<cuMemcpyDtoDAsync_v2_params>(params);
  Stream(params, p.hStream, call);
  Write(p.dstDevice, p.ByteCount, call);
  Read(p.srcDevice, p.ByteCount, call);
}

void CopyAny(const CallParams& params, Call& call) {
  const auto& p = As<cuMemcpyAsync_params>(params);
  Stream(params, p.hStream, call);
  Write(p.dst, p.ByteCount, call);
  Read(p.src, p.ByteCount, call);
}

void CopyPeer(const CallParams& params, Call& call) {
  const auto& p = As<cuMemcpyPeerAsync_params>(params);
  Stream(params, p.hStream, call);
  Write(p.dstDevice, p.ByteCount, call);
  Read(p.srcDevice, p.ByteCount, call);
}

void Copy2D(const CallParams& params, Call& call) {
  const auto& p = As<cuMemcpy2DAsync_v2_params>(params);
  Stream(params, p.hStream, call);
  if (p.pCopy != nullptr) Ends(*p.pCopy, call);
}

void Copy3D(const CallParams& params, Call& call) {
  const auto& p = As<cuMemcpy3DAsync_v2_params>(params);
  Stream(params, p.hStream, call);
  if (p.pCopy != nullptr) Ends(*p.pCopy, call);
}

void Copy3DPeer(const CallParams& params, Call& call) {
  const auto& p = As<cuMemcpy3DPeerAsync_params>(params);
  Stream(params, p.hStream, call);
  if (p.pCopy != nullptr) Ends(*p.pCopy, call);
}

// Arrays are no blocks: only the other end is told.
void HostToArray(const CallParams& params, Call& call) {
  const auto& p = As<cuMemcpyHtoAAsync_v2_params>(params);
  Stream(params, p.hStream, call);
  Read(Address(p.srcHost), p.ByteCount, call);
}

void ArrayToHost(const CallParams& params, Call& call) {
  const auto& p = As<cuMemcpyAtoHAsync_v2_params>(params);
  Stream(params, p.hStream, call);
  Write(Address(p.dstHost), p.ByteCount, call);
}

void Set8(const CallParams& params, Call& call) {
  SetBytes<cuMemsetD8Async_params>(params, call, 1);
}
void Set16(const CallParams& params, Call& call) {
  SetBytes<cuMemsetD16Async_params>(params, call, 2);
}
void Set32(const CallParams& params, Call& call) {
  SetBytes<cuMemsetD32Async_params>(params, call, 4);
}
void Set2D8(const CallParams& params, Call& call) {
  SetRows<cuMemsetD2D8Async_params>(params, call, 1);
}
void Set2D16(const CallParams& params, Call& call) {
  SetRows<cuMemsetD2D16Async_params>(params, call, 2);
}
void Set2D32(const CallParams& params, Call& call) {
  SetRows<cuMemsetD2D32Async_params>(params, call, 4);
}

}  // namespace graphkit::decode
