// Handles, versions, and descriptors that hold nothing but what they are set to.
#include "plugins/soft_cuda/libraries/dnn/handle.h"

#include <algorithm>
#include <cstdio>
#include <new>

namespace graphkit::soft::dnn {

uint64_t ElementBits(int type) {
  switch (type) {
    case 16:  // CUDNN_DATA_FP4_E2M1
    case 17:  // CUDNN_DATA_INT4
    case 18:  // CUDNN_DATA_UINT4
      return 4;
    case 3:   // CUDNN_DATA_INT8
    case 6:   // CUDNN_DATA_UINT8
    case 11:  // CUDNN_DATA_BOOLEAN, taken as a byte
    case 12:  // CUDNN_DATA_FP8_E4M3
    case 13:  // CUDNN_DATA_FP8_E5M2
    case 15:  // CUDNN_DATA_FP8_E8M0
    case 22:  // CUDNN_DATA_BYTE_BOOLEAN
    case 23:  // CUDNN_DATA_FP8_E5M3
      return 8;
    case 2:  // CUDNN_DATA_HALF
    case 9:  // CUDNN_DATA_BFLOAT16
      return 16;
    case 0:   // CUDNN_DATA_FLOAT
    case 4:   // CUDNN_DATA_INT32
    case 5:   // CUDNN_DATA_INT8x4
    case 7:   // CUDNN_DATA_UINT8x4
    case 14:  // CUDNN_DATA_FAST_FLOAT_FOR_FP8
    case 19:  // CUDNN_DATA_UINT32
      return 32;
    case 1:   // CUDNN_DATA_DOUBLE
    case 10:  // CUDNN_DATA_INT64
    case 20:  // CUDNN_DATA_COMPLEX_FP32
      return 64;
    case 21:  // CUDNN_DATA_COMPLEX_FP64
      return 128;
    case 8:  // CUDNN_DATA_INT8x32
      return 256;
    default:
      return 0;
  }
}

uint64_t Bytes(int type, const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides) {
  if (sizes.empty() || sizes.size() != strides.size()) return 0;
  int64_t last = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] <= 0) return 0;
    last += (sizes[i] - 1) * std::max<int64_t>(strides[i], 0);
  }
  return (static_cast<uint64_t>(last + 1) * ElementBits(type) + 7) / 8;
}

bool IsZero(const void* beta, const Tensor* output) {
  if (beta == nullptr || output == nullptr) return true;
  return output->type == 1 ? *static_cast<const double*>(beta) == 0
                           : *static_cast<const float*>(beta) == 0;
}

namespace {

constexpr int kVersion = 92600;  // 9.26.0

Status Make(Tensor** out) {
  if (out == nullptr) return kNullPointer;
  *out = new (std::nothrow) Tensor;
  return *out != nullptr ? kSuccess : static_cast<Status>(4003);
}

// The strides of a dense tensor, the last of `order` running fastest.
void Densify(Tensor* tensor) {
  const size_t n = tensor->sizes.size();
  tensor->strides.assign(n, 1);
  std::vector<size_t> order(n);
  for (size_t i = 0; i < n; ++i) order[i] = i;
  if (tensor->format == 1 && n > 2) std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  int64_t stride = 1;
  for (size_t i = n; i-- > 0;) {
    tensor->strides[order[i]] = stride;
    stride *= tensor->sizes[order[i]];
  }
}

}  // namespace
}  // namespace graphkit::soft::dnn

using namespace graphkit::soft::dnn;

extern "C" {

STAND_IN int cudnnCreate(Handle** out) {
  if (out == nullptr) return kNullPointer;
  CUcontext context = nullptr;
  if (cuCtxGetCurrent(&context) != CUDA_SUCCESS || context == nullptr) return kNotInitialized;
  *out = new (std::nothrow) Handle;
  return *out != nullptr ? kSuccess : 4003;
}
STAND_IN int cudnnDestroy(Handle* handle) {
  delete handle;
  return kSuccess;
}
STAND_IN int cudnnSetStream(Handle* handle, CUstream stream) {
  if (handle == nullptr) return kNullPointer;
  handle->stream = stream;
  return kSuccess;
}
STAND_IN int cudnnGetStream(const Handle* handle, CUstream* stream) {
  if (handle == nullptr || stream == nullptr) return kNullPointer;
  *stream = handle->stream;
  return kSuccess;
}

STAND_IN size_t cudnnGetVersion() { return kVersion; }
STAND_IN size_t cudnnGetMaxDeviceVersion() { return 1200; }
STAND_IN size_t cudnnGetCudartVersion() {
  int version = 0;
  cuDriverGetVersion(&version);
  return static_cast<size_t>(version);
}
STAND_IN int cudnnGetProperty(int property, int* value) {
  if (value == nullptr || property < 0 || property > 2) return kBadParam;
  const int parts[] = {kVersion / 10000, kVersion / 100 % 100, kVersion % 100};
  *value = parts[property];
  return kSuccess;
}
STAND_IN const char* cudnnGetErrorString(int status) {
  switch (status) {
    case kSuccess:
      return "CUDNN_STATUS_SUCCESS";
    case kNotInitialized:
      return "CUDNN_STATUS_NOT_INITIALIZED";
    case kBadParam:
      return "CUDNN_STATUS_BAD_PARAM";
    case kNullPointer:
      return "CUDNN_STATUS_BAD_PARAM_NULL_POINTER";
    case kNotFinalized:
      return "CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED";
    case kNotSupported:
      return "CUDNN_STATUS_NOT_SUPPORTED";
    case kExecutionFailed:
      return "CUDNN_STATUS_EXECUTION_FAILED";
    default:
      return "CUDNN_UNKNOWN_STATUS";
  }
}
STAND_IN void cudnnGetLastErrorString(char* message, size_t size) {
  if (message != nullptr && size != 0) std::snprintf(message, size, "simulated: no text is kept");
}
STAND_IN int cudnnGraphVersionCheck() { return kSuccess; }
STAND_IN int cudnnOpsVersionCheck() { return kSuccess; }
STAND_IN int cudnnCnnVersionCheck() { return kSuccess; }
STAND_IN int cudnnAdvVersionCheck() { return kSuccess; }

STAND_IN int cudnnCreateTensorDescriptor(Tensor** out) { return Make(out); }
STAND_IN int cudnnDestroyTensorDescriptor(Tensor* tensor) {
  delete tensor;
  return kSuccess;
}
STAND_IN int cudnnSetTensorNdDescriptor(Tensor* tensor, int type, int count, const int* sizes,
                                        const int* strides) {
  if (tensor == nullptr || sizes == nullptr || strides == nullptr) return kNullPointer;
  if (count < 1 || count > 12 || ElementBits(type) == 0) return kBadParam;
  *tensor = {type, 0, {sizes, sizes + count}, {strides, strides + count}};
  return kSuccess;
}
STAND_IN int cudnnSetTensor4dDescriptorEx(Tensor* tensor, int type, int n, int c, int h, int w,
                                          int stride_n, int stride_c, int stride_h, int stride_w) {
  const int sizes[] = {n, c, h, w}, strides[] = {stride_n, stride_c, stride_h, stride_w};
  return cudnnSetTensorNdDescriptor(tensor, type, 4, sizes, strides);
}
STAND_IN int cudnnSetTensor4dDescriptor(Tensor* tensor, int format, int type, int n, int c, int h,
                                        int w) {
  if (tensor == nullptr) return kNullPointer;
  if (ElementBits(type) == 0 || format < 0 || format > 1) return kNotSupported;
  *tensor = {type, format, {n, c, h, w}, {}};
  Densify(tensor);
  return kSuccess;
}
STAND_IN int cudnnGetTensorNdDescriptor(const Tensor* tensor, int room, int* type, int* count,
                                        int* sizes, int* strides) {
  if (tensor == nullptr || type == nullptr || count == nullptr) return kNullPointer;
  *type = tensor->type;
  *count = static_cast<int>(tensor->sizes.size());
  for (int i = 0; i < std::min(room, *count); ++i) {
    sizes[i] = static_cast<int>(tensor->sizes[static_cast<size_t>(i)]);
    strides[i] = static_cast<int>(tensor->strides[static_cast<size_t>(i)]);
  }
  return kSuccess;
}

STAND_IN int cudnnCreateFilterDescriptor(Tensor** out) { return Make(out); }
STAND_IN int cudnnDestroyFilterDescriptor(Tensor* filter) {
  delete filter;
  return kSuccess;
}
STAND_IN int cudnnSetFilterNdDescriptor(Tensor* filter, int type, int format, int count,
                                        const int* sizes) {
  if (filter == nullptr || sizes == nullptr) return kNullPointer;
  if (count < 1 || count > 12 || ElementBits(type) == 0 || format < 0 || format > 1)
    return kBadParam;
  *filter = {type, format, {sizes, sizes + count}, {}};
  Densify(filter);
  return kSuccess;
}
STAND_IN int cudnnGetFilterNdDescriptor(const Tensor* filter, int room, int* type, int* format,
                                        int* count, int* sizes) {
  if (filter == nullptr || type == nullptr || format == nullptr || count == nullptr) {
    return kNullPointer;
  }
  *type = filter->type;
  *format = filter->format;
  *count = static_cast<int>(filter->sizes.size());
  for (int i = 0; i < std::min(room, *count); ++i) {
    sizes[i] = static_cast<int>(filter->sizes[static_cast<size_t>(i)]);
  }
  return kSuccess;
}
}
