// Functions in older versions, for programs built for an older CUDA: what they can say is said by
// the version of today.
#include <cstdint>

#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"

namespace graphkit::soft::driver {

CUresult CtxCreate(CUcontext* out, unsigned int flags, CUdevice dev) {
  return CtxCreate_v4(out, nullptr, flags, dev);
}
CUresult CtxCreate_v2(CUcontext* out, unsigned int flags, CUdevice dev) {
  return CtxCreate_v4(out, nullptr, flags, dev);
}
// A context with fewer multiprocessors needs MPS.
CUresult CtxCreate_v3(CUcontext* out, CUexecAffinityParam* params, int count, unsigned int flags,
                      CUdevice dev) {
  if (count < 0 || (count > 0 && params == nullptr)) return CUDA_ERROR_INVALID_VALUE;
  return count == 0 ? CtxCreate_v4(out, nullptr, flags, dev) : CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
}
CUresult CtxDestroy(CUcontext context) { return CtxDestroy_v2(context); }
CUresult CtxPopCurrent(CUcontext* out) { return CtxPopCurrent_v2(out); }
CUresult CtxPushCurrent(CUcontext context) { return CtxPushCurrent_v2(context); }
CUresult DevicePrimaryCtxRelease(CUdevice dev) { return DevicePrimaryCtxRelease_v2(dev); }
CUresult DevicePrimaryCtxReset(CUdevice dev) { return DevicePrimaryCtxReset_v2(dev); }
CUresult DevicePrimaryCtxSetFlags(CUdevice dev, unsigned int flags) {
  return DevicePrimaryCtxSetFlags_v2(dev, flags);
}

CUresult IpcOpenMemHandle(CUdeviceptr* out, CUipcMemHandle handle, unsigned int flags) {
  return IpcOpenMemHandle_v2(out, handle, flags);
}
CUresult StreamDestroy(CUstream stream) { return StreamDestroy_v2(stream); }
CUresult EventDestroy(CUevent event) { return EventDestroy_v2(event); }
CUresult EventElapsedTime(float* ms, CUevent start, CUevent end) {
  return EventElapsedTime_v2(ms, start, end);
}

CUresult StreamBeginCapture(CUstream stream) {
  return StreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}
CUresult StreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id) {
  return StreamGetCaptureInfo_v3(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}

CUresult StreamBatchMemOp(CUstream stream, unsigned int count, CUstreamBatchMemOpParams* operations,
                          unsigned int flags) {
  return StreamBatchMemOp_v2(stream, count, operations, flags);
}
CUresult StreamWaitValue32(CUstream stream, CUdeviceptr at, cuuint32_t value, unsigned int flags) {
  return StreamWaitValue32_v2(stream, at, value, flags);
}
CUresult StreamWaitValue64(CUstream stream, CUdeviceptr at, cuuint64_t value, unsigned int flags) {
  return StreamWaitValue64_v2(stream, at, value, flags);
}
CUresult StreamWriteValue32(CUstream stream, CUdeviceptr at, cuuint32_t value, unsigned int flags) {
  return StreamWriteValue32_v2(stream, at, value, flags);
}
CUresult StreamWriteValue64(CUstream stream, CUdeviceptr at, cuuint64_t value, unsigned int flags) {
  return StreamWriteValue64_v2(stream, at, value, flags);
}

// Green contexts aren't modelled: every stream is of a plain one.
CUresult StreamGetCtx_v2(CUstream stream, CUcontext* context, CUgreenCtx* green) {
  if (green == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *green = nullptr;
  return StreamGetCtx(stream, context);
}

CUresult MemHostRegister(void* pointer, size_t bytes, unsigned int flags) {
  return MemHostRegister_v2(pointer, bytes, flags);
}

static CUmemLocation LocationOf(CUdevice device) {
  CUmemLocation location{};
  location.type = device == CU_DEVICE_CPU ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE;
  location.id = device == CU_DEVICE_CPU ? 0 : device;
  return location;
}
CUresult MemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUdevice device) {
  return MemAdvise_v2(address, bytes, advice, LocationOf(device));
}
CUresult MemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream) {
  return MemPrefetchAsync_v2(address, bytes, LocationOf(device), 0, stream);
}

// The failing copy isn't determined: all are checked together.
CUresult MemcpyBatchAsync(CUdeviceptr* to, CUdeviceptr* from, size_t* sizes, size_t count,
                          CUmemcpyAttributes* attributes, size_t* index, size_t attributes_count,
                          size_t* failed, CUstream stream) {
  const CUresult result =
      MemcpyBatchAsync_v2(to, from, sizes, count, attributes, index, attributes_count, stream);
  if (result != CUDA_SUCCESS && failed != nullptr) *failed = SIZE_MAX;
  return result;
}

}  // namespace graphkit::soft::driver
