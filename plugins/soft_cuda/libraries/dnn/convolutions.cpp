// Convolutions by the calls of before the backend. One algorithm, which needs no workspace.
#include <cstring>
#include <new>

#include "plugins/soft_cuda/libraries/dnn/handle.h"

namespace graphkit::soft::dnn {
namespace {

// A cudnnConvolutionDescriptor_t: nothing in it decides what is touched.
struct Convolution {
  int groups = 1;
  int math = 0;
};

// cudnnConvolutionFwdAlgoPerf_t, and those of the other directions.
struct Performance {
  int algorithm = 1;  // …_ALGO_1, or …_IMPLICIT_PRECOMP_GEMM forwards
  int status = 0;
  float milliseconds = 0;
  size_t workspace = 0;
  int deterministic = 1;
  int math = 0;
  int reserved[3] = {};
};
static_assert(sizeof(Performance) == 48);

Status GiveAlgorithm(const Convolution* convolution, int wanted, int* count, Performance* out) {
  if (count == nullptr || out == nullptr || convolution == nullptr) return kNullPointer;
  if (wanted < 1) return kBadParam;
  *out = {};
  out->math = convolution->math;
  *count = 1;
  return kSuccess;
}

struct Operand {
  const Tensor* tensor;
  const void* memory;
};

// out = f(a, b) + beta out.
Status Convolve(const char* name, const Handle* handle, Operand a, Operand b, void* workspace,
                size_t workspace_bytes, const void* beta, const Tensor* output, void* out) {
  if (handle == nullptr) return kNullPointer;
  Work work(name, handle->stream);
  work.Reads(a.memory, Bytes(a.tensor)).Reads(b.memory, Bytes(b.tensor));
  work.Uses(out, Bytes(output),
            IsZero(beta, output) ? GRAPHKIT_SOFT_WRITES : GRAPHKIT_SOFT_UPDATES);
  return Submit(work.Writes(workspace, workspace_bytes));
}

}  // namespace
}  // namespace graphkit::soft::dnn

using namespace graphkit::soft::dnn;

extern "C" {

STAND_IN int cudnnCreateConvolutionDescriptor(Convolution** out) {
  if (out == nullptr) return kNullPointer;
  *out = new (std::nothrow) Convolution;
  return *out != nullptr ? kSuccess : 4003;
}
STAND_IN int cudnnDestroyConvolutionDescriptor(Convolution* convolution) {
  delete convolution;
  return kSuccess;
}
STAND_IN int cudnnSetConvolutionNdDescriptor(Convolution* convolution, int, const int* padding,
                                             const int* strides, const int* dilations, int, int) {
  const bool all = convolution != nullptr && padding != nullptr && strides != nullptr;
  return all && dilations != nullptr ? kSuccess : kNullPointer;
}
STAND_IN int cudnnSetConvolutionGroupCount(Convolution* convolution, int groups) {
  if (convolution == nullptr) return kNullPointer;
  convolution->groups = groups;
  return kSuccess;
}
STAND_IN int cudnnSetConvolutionMathType(Convolution* convolution, int math) {
  if (convolution == nullptr) return kNullPointer;
  convolution->math = math;
  return kSuccess;
}

STAND_IN int cudnnGetConvolutionForwardAlgorithm_v7(Handle*, Tensor*, Tensor*, Convolution* c,
                                                    Tensor*, int wanted, int* count,
                                                    Performance* out) {
  return GiveAlgorithm(c, wanted, count, out);
}
STAND_IN int cudnnGetConvolutionBackwardDataAlgorithm_v7(Handle*, Tensor*, Tensor*, Convolution* c,
                                                         Tensor*, int wanted, int* count,
                                                         Performance* out) {
  return GiveAlgorithm(c, wanted, count, out);
}
STAND_IN int cudnnGetConvolutionBackwardFilterAlgorithm_v7(Handle*, Tensor*, Tensor*,
                                                           Convolution* c, Tensor*, int wanted,
                                                           int* count, Performance* out) {
  return GiveAlgorithm(c, wanted, count, out);
}
STAND_IN int cudnnFindConvolutionForwardAlgorithmEx(Handle*, Tensor*, const void*, Tensor*,
                                                    const void*, Convolution* c, Tensor*, void*,
                                                    int wanted, int* count, Performance* out, void*,
                                                    size_t) {
  return GiveAlgorithm(c, wanted, count, out);
}
STAND_IN int cudnnFindConvolutionBackwardDataAlgorithmEx(Handle*, Tensor*, const void*, Tensor*,
                                                         const void*, Convolution* c, Tensor*,
                                                         void*, int wanted, int* count,
                                                         Performance* out, void*, size_t) {
  return GiveAlgorithm(c, wanted, count, out);
}
STAND_IN int cudnnFindConvolutionBackwardFilterAlgorithmEx(Handle*, Tensor*, const void*, Tensor*,
                                                           const void*, Convolution* c, Tensor*,
                                                           void*, int wanted, int* count,
                                                           Performance* out, void*, size_t) {
  return GiveAlgorithm(c, wanted, count, out);
}
STAND_IN int cudnnGetConvolutionForwardWorkspaceSize(Handle*, Tensor*, Tensor*, Convolution*,
                                                     Tensor*, int, size_t* bytes) {
  return NoBytes(bytes);
}
STAND_IN int cudnnGetConvolutionBackwardDataWorkspaceSize(Handle*, Tensor*, Tensor*, Convolution*,
                                                          Tensor*, int, size_t* bytes) {
  return NoBytes(bytes);
}
STAND_IN int cudnnGetConvolutionBackwardFilterWorkspaceSize(Handle*, Tensor*, Tensor*, Convolution*,
                                                            Tensor*, int, size_t* bytes) {
  return NoBytes(bytes);
}

STAND_IN int cudnnConvolutionForward(Handle* handle, const void*, Tensor* tensor_x, const void* x,
                                     Tensor* tensor_w, const void* w, Convolution*, int,
                                     void* workspace, size_t bytes, const void* beta,
                                     Tensor* tensor_y, void* y) {
  return Convolve("cudnnConvolutionForward", handle, {tensor_x, x}, {tensor_w, w}, workspace, bytes,
                  beta, tensor_y, y);
}
STAND_IN int cudnnConvolutionBackwardData(Handle* handle, const void*, Tensor* tensor_w,
                                          const void* w, Tensor* tensor_dy, const void* dy,
                                          Convolution*, int, void* workspace, size_t bytes,
                                          const void* beta, Tensor* tensor_dx, void* dx) {
  return Convolve("cudnnConvolutionBackwardData", handle, {tensor_w, w}, {tensor_dy, dy}, workspace,
                  bytes, beta, tensor_dx, dx);
}
STAND_IN int cudnnConvolutionBackwardFilter(Handle* handle, const void*, Tensor* tensor_x,
                                            const void* x, Tensor* tensor_dy, const void* dy,
                                            Convolution*, int, void* workspace, size_t bytes,
                                            const void* beta, Tensor* tensor_dw, void* dw) {
  return Convolve("cudnnConvolutionBackwardFilter", handle, {tensor_x, x}, {tensor_dy, dy},
                  workspace, bytes, beta, tensor_dw, dw);
}
STAND_IN int cudnnConvolutionBiasActivationForward(Handle* handle, const void*, Tensor* tensor_x,
                                                   const void* x, Tensor* tensor_w, const void* w,
                                                   Convolution*, int, void* workspace, size_t bytes,
                                                   const void*, Tensor* tensor_z, const void* z,
                                                   Tensor* tensor_bias, const void* bias, void*,
                                                   Tensor* tensor_y, void* y) {
  if (handle == nullptr) return kNullPointer;
  graphkit::soft::Work work("cudnnConvolutionBiasActivationForward", handle->stream);
  work.Reads(x, Bytes(tensor_x)).Reads(w, Bytes(tensor_w)).Reads(bias, Bytes(tensor_bias));
  if (z != y) work.Reads(z, Bytes(tensor_z));
  work.Uses(y, Bytes(tensor_y), z == y ? GRAPHKIT_SOFT_UPDATES : GRAPHKIT_SOFT_WRITES);
  return Submit(work.Writes(workspace, bytes));
}
}
