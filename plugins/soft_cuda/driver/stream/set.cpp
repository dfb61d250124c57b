// Fills of memory.
#include "driver_impl.h"
#include "plugins/soft_cuda/device/device.h"
#include "plugins/soft_cuda/driver/rules/copy_rules.h"
#include "plugins/soft_cuda/driver/stream/submit.h"

namespace graphkit::soft::driver {
namespace {

struct Fill {
  CUdeviceptr to;
  size_t pitch;  // bytes
  unsigned value;
  unsigned element;  // bytes
  size_t width;      // elements
  size_t height = 1;
};

CUresult Enqueue(const Fill& fill, CUstream stream) {
  if (fill.to % fill.element != 0) return CUDA_ERROR_INVALID_VALUE;
  if (fill.width == 0 || fill.height == 0) return CUDA_SUCCESS;
  const CUDA_MEMSET_NODE_PARAMS set{fill.to,      fill.pitch, fill.value,
                                    fill.element, fill.width, fill.height};
  Lock lock = LockDevice();
  if (!CanSet(set)) return CUDA_ERROR_INVALID_VALUE;
  Context* context = CurrentContext();
  auto params = std::make_unique<MemsetParams>(
      MemsetParams{set, context != nullptr ? context->handle() : nullptr});
  return Submit(stream, CU_GRAPH_NODE_TYPE_MEMSET, std::move(params));
}

Fill Line(CUdeviceptr to, unsigned value, unsigned element, size_t count) {
  return {to, count * element, value, element, count};
}

}  // namespace

CUresult MemsetD8_v2(CUdeviceptr to, unsigned char value, size_t n) {
  return Enqueue(Line(to, value, 1, n), CU_STREAM_LEGACY);
}
CUresult MemsetD16_v2(CUdeviceptr to, unsigned short value, size_t n) {
  return Enqueue(Line(to, value, 2, n), CU_STREAM_LEGACY);
}
CUresult MemsetD32_v2(CUdeviceptr to, unsigned int value, size_t n) {
  return Enqueue(Line(to, value, 4, n), CU_STREAM_LEGACY);
}
CUresult MemsetD8Async(CUdeviceptr to, unsigned char value, size_t n, CUstream stream) {
  return Enqueue(Line(to, value, 1, n), stream);
}
CUresult MemsetD16Async(CUdeviceptr to, unsigned short value, size_t n, CUstream stream) {
  return Enqueue(Line(to, value, 2, n), stream);
}
CUresult MemsetD32Async(CUdeviceptr to, unsigned int value, size_t n, CUstream stream) {
  return Enqueue(Line(to, value, 4, n), stream);
}
CUresult MemsetD2D8_v2(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                       size_t height) {
  return Enqueue({to, pitch, value, 1, width, height}, CU_STREAM_LEGACY);
}
CUresult MemsetD2D16_v2(CUdeviceptr to, size_t pitch, unsigned short value, size_t width,
                        size_t height) {
  return Enqueue({to, pitch, value, 2, width, height}, CU_STREAM_LEGACY);
}
CUresult MemsetD2D32_v2(CUdeviceptr to, size_t pitch, unsigned int value, size_t width,
                        size_t height) {
  return Enqueue({to, pitch, value, 4, width, height}, CU_STREAM_LEGACY);
}
CUresult MemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
                         size_t height, CUstream stream) {
  return Enqueue({to, pitch, value, 1, width, height}, stream);
}
CUresult MemsetD2D16Async(CUdeviceptr to, size_t pitch, unsigned short value, size_t width,
                          size_t height, CUstream stream) {
  return Enqueue({to, pitch, value, 2, width, height}, stream);
}
CUresult MemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned int value, size_t width,
                          size_t height, CUstream stream) {
  return Enqueue({to, pitch, value, 4, width, height}, stream);
}

}  // namespace graphkit::soft::driver
