// Normalization, pooling, dropout, sampling and losses by the calls of before the backend.
#include <new>

#include "plugins/soft_cuda/libraries/dnn/handle.h"

namespace graphkit::soft::dnn {
namespace {

// Activations, pooling, dropout, losses and samplers: what is set decides nothing that is touched,
// but for these.
struct Setting {
  Tensor sampled;          // of a spatial transformer
  void* states = nullptr;  // of a dropout, the caller's
  size_t state_bytes = 0;
};

constexpr size_t kDropoutStates = size_t{1} << 20;  // modelled: bytes of the random state

Status Make(Setting** out) {
  if (out == nullptr) return kNullPointer;
  *out = new (std::nothrow) Setting;
  return *out != nullptr ? kSuccess : static_cast<Status>(4003);
}
Status Drop(Setting* setting) {
  delete setting;
  return kSuccess;
}
graphkit_soft_use UseOf(const void* beta, const Tensor* output) {
  return IsZero(beta, output) ? GRAPHKIT_SOFT_WRITES : GRAPHKIT_SOFT_UPDATES;
}

// A grid of two coordinates for each element that a spatial transformer samples.
uint64_t GridBytes(const Setting* setting) {
  const std::vector<int64_t>& s = setting->sampled.sizes;
  if (s.size() < 4) return 0;
  return static_cast<uint64_t>(s[0] * s[2] * s[3] * 2) * ElementBits(setting->sampled.type) / 8;
}
uint64_t ThetaBytes(const Setting* setting) {
  const std::vector<int64_t>& s = setting->sampled.sizes;
  if (s.empty()) return 0;
  return static_cast<uint64_t>(s[0] * 6) * ElementBits(setting->sampled.type) / 8;
}

}  // namespace
}  // namespace graphkit::soft::dnn

using namespace graphkit::soft::dnn;
using graphkit::soft::Work;

#define DESCRIPTOR(Name)                                                          \
  STAND_IN int cudnnCreate##Name##Descriptor(Setting** out) { return Make(out); } \
  STAND_IN int cudnnDestroy##Name##Descriptor(Setting* setting) { return Drop(setting); }

extern "C" {

DESCRIPTOR(Activation)
DESCRIPTOR(CTCLoss)
DESCRIPTOR(Dropout)
DESCRIPTOR(Pooling)
DESCRIPTOR(SpatialTransformer)

STAND_IN int cudnnSetActivationDescriptor(Setting*, int, int, double) { return kSuccess; }
STAND_IN int cudnnSetPooling2dDescriptor(Setting*, int, int, int, int, int, int, int, int) {
  return kSuccess;
}
STAND_IN int cudnnSetCTCLossDescriptorEx(Setting*, int, int, int) { return kSuccess; }
STAND_IN int cudnnSetCTCLossDescriptor_v9(Setting*, int, int, int, int) { return kSuccess; }

STAND_IN int cudnnDropoutGetStatesSize(Handle*, size_t* bytes) {
  if (bytes == nullptr) return kNullPointer;
  *bytes = kDropoutStates;
  return kSuccess;
}
STAND_IN int cudnnRestoreDropoutDescriptor(Setting* dropout, Handle*, float, void* states,
                                           size_t bytes, unsigned long long) {
  if (dropout == nullptr) return kNullPointer;
  dropout->states = states;
  dropout->state_bytes = bytes;
  return kSuccess;
}
STAND_IN int cudnnSetDropoutDescriptor(Setting* dropout, Handle* handle, float rate, void* states,
                                       size_t bytes, unsigned long long seed) {
  if (handle == nullptr) return kNullPointer;
  if (const int status =
          cudnnRestoreDropoutDescriptor(dropout, handle, rate, states, bytes, seed)) {
    return status;
  }
  if (states == nullptr) return kSuccess;
  return Submit(Work("cudnnSetDropoutDescriptor", handle->stream).Writes(states, bytes));
}

STAND_IN int cudnnPoolingForward(Handle* handle, Setting*, const void*, Tensor* tensor_x,
                                 const void* x, const void* beta, Tensor* tensor_y, void* y) {
  if (handle == nullptr) return kNullPointer;
  Work work("cudnnPoolingForward", handle->stream);
  return Submit(work.Reads(x, Bytes(tensor_x)).Uses(y, Bytes(tensor_y), UseOf(beta, tensor_y)));
}

STAND_IN int cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(Handle*, int, int, Tensor*,
                                                                      Tensor*, Tensor*, Tensor*,
                                                                      Setting*, size_t* bytes) {
  return NoBytes(bytes);
}
STAND_IN int cudnnGetBatchNormalizationBackwardExWorkspaceSize(Handle*, int, int, Tensor*, Tensor*,
                                                               Tensor*, Tensor*, Tensor*, Tensor*,
                                                               Setting*, size_t* bytes) {
  return NoBytes(bytes);
}
STAND_IN int cudnnGetBatchNormalizationTrainingExReserveSpaceSize(Handle*, int, int, Setting*,
                                                                  Tensor*, size_t* bytes) {
  return NoBytes(bytes);
}
STAND_IN int cudnnBatchNormalizationForwardTrainingEx(
    Handle* handle, int, int, const void*, const void* beta, Tensor* tensor_x, const void* x,
    Tensor* tensor_z, const void* z, Tensor* tensor_y, void* y, Tensor* parameters,
    const void* scale, const void* bias, double, void* running_mean, void* running_variance, double,
    void* saved_mean, void* saved_variance, Setting*, void* workspace, size_t workspace_bytes,
    void* reserve, size_t reserve_bytes) {
  if (handle == nullptr) return kNullPointer;
  const uint64_t each = Bytes(parameters);
  Work work("cudnnBatchNormalizationForwardTrainingEx", handle->stream);
  work.Reads(x, Bytes(tensor_x)).Reads(z, Bytes(tensor_z)).Reads(scale, each).Reads(bias, each);
  work.Uses(y, Bytes(tensor_y), UseOf(beta, tensor_y));
  work.Updates(running_mean, each).Updates(running_variance, each);
  work.Writes(saved_mean, each).Writes(saved_variance, each);
  return Submit(work.Writes(workspace, workspace_bytes).Writes(reserve, reserve_bytes));
}
STAND_IN int cudnnBatchNormalizationForwardInference(Handle* handle, int, const void*,
                                                     const void* beta, Tensor* tensor_x,
                                                     const void* x, Tensor* tensor_y, void* y,
                                                     Tensor* parameters, const void* scale,
                                                     const void* bias, const void* mean,
                                                     const void* variance, double) {
  if (handle == nullptr) return kNullPointer;
  const uint64_t each = Bytes(parameters);
  Work work("cudnnBatchNormalizationForwardInference", handle->stream);
  work.Reads(x, Bytes(tensor_x)).Reads(scale, each).Reads(bias, each).Reads(mean, each);
  return Submit(work.Reads(variance, each).Uses(y, Bytes(tensor_y), UseOf(beta, tensor_y)));
}
STAND_IN int cudnnBatchNormalizationBackwardEx(
    Handle* handle, int, int, const void*, const void* beta, const void*,
    const void* beta_parameters, Tensor* tensor_x, const void* x, Tensor* tensor_y, const void* y,
    Tensor* tensor_dy, const void* dy, Tensor* tensor_dz, void* dz, Tensor* tensor_dx, void* dx,
    Tensor* parameters, const void* scale, const void* bias, void* dscale, void* dbias, double,
    const void* saved_mean, const void* saved_variance, Setting*, void* workspace,
    size_t workspace_bytes, void* reserve, size_t reserve_bytes) {
  if (handle == nullptr) return kNullPointer;
  const uint64_t each = Bytes(parameters);
  Work work("cudnnBatchNormalizationBackwardEx", handle->stream);
  work.Reads(x, Bytes(tensor_x)).Reads(y, Bytes(tensor_y)).Reads(dy, Bytes(tensor_dy));
  work.Writes(dz, Bytes(tensor_dz)).Uses(dx, Bytes(tensor_dx), UseOf(beta, tensor_dx));
  work.Reads(scale, each).Reads(bias, each).Reads(saved_mean, each).Reads(saved_variance, each);
  work.Uses(dscale, each, UseOf(beta_parameters, parameters));
  work.Uses(dbias, each, UseOf(beta_parameters, parameters));
  return Submit(work.Writes(workspace, workspace_bytes).Reads(reserve, reserve_bytes));
}

STAND_IN int cudnnSetSpatialTransformerNdDescriptor(Setting* setting, int, int type, int count,
                                                    const int* sizes) {
  if (setting == nullptr || sizes == nullptr) return kNullPointer;
  setting->sampled = {type, 0, {sizes, sizes + count}, {}};
  return kSuccess;
}
STAND_IN int cudnnSpatialTfGridGeneratorForward(Handle* handle, Setting* setting, const void* theta,
                                                void* grid) {
  if (handle == nullptr || setting == nullptr) return kNullPointer;
  Work work("cudnnSpatialTfGridGeneratorForward", handle->stream);
  return Submit(work.Reads(theta, ThetaBytes(setting)).Writes(grid, GridBytes(setting)));
}
STAND_IN int cudnnSpatialTfGridGeneratorBackward(Handle* handle, Setting* setting,
                                                 const void* dgrid, void* dtheta) {
  if (handle == nullptr || setting == nullptr) return kNullPointer;
  Work work("cudnnSpatialTfGridGeneratorBackward", handle->stream);
  return Submit(work.Reads(dgrid, GridBytes(setting)).Writes(dtheta, ThetaBytes(setting)));
}
STAND_IN int cudnnSpatialTfSamplerForward(Handle* handle, Setting* setting, const void*,
                                          Tensor* tensor_x, const void* x, const void* grid,
                                          const void* beta, Tensor* tensor_y, void* y) {
  if (handle == nullptr || setting == nullptr) return kNullPointer;
  Work work("cudnnSpatialTfSamplerForward", handle->stream);
  work.Reads(x, Bytes(tensor_x)).Reads(grid, GridBytes(setting));
  return Submit(work.Uses(y, Bytes(tensor_y), UseOf(beta, tensor_y)));
}
STAND_IN int cudnnSpatialTfSamplerBackward(Handle* handle, Setting* setting, const void*,
                                           Tensor* tensor_x, const void* x, const void* beta,
                                           Tensor* tensor_dx, void* dx, const void*,
                                           Tensor* tensor_dy, const void* dy, const void* grid,
                                           const void* beta_grid, void* dgrid) {
  if (handle == nullptr || setting == nullptr) return kNullPointer;
  Work work("cudnnSpatialTfSamplerBackward", handle->stream);
  work.Reads(x, Bytes(tensor_x)).Reads(dy, Bytes(tensor_dy)).Reads(grid, GridBytes(setting));
  work.Uses(dx, Bytes(tensor_dx), UseOf(beta, tensor_dx));
  return Submit(work.Uses(dgrid, GridBytes(setting), UseOf(beta_grid, tensor_dx)));
}

STAND_IN int cudnnGetCTCLossWorkspaceSize(Handle*, Tensor*, Tensor*, const int*, const int*,
                                          const int*, int, Setting*, size_t* bytes) {
  return NoBytes(bytes);
}
STAND_IN int cudnnGetCTCLossWorkspaceSize_v8(Handle*, int, Setting*, Tensor*, Tensor*,
                                             size_t* bytes) {
  return NoBytes(bytes);
}
// Probabilities are time × batch × alphabet; there is a cost for each of the batch.
STAND_IN int cudnnCTCLoss(Handle* handle, Tensor* tensor, const void* probabilities, const int*,
                          const int*, const int*, void* costs, Tensor* tensor_gradients,
                          void* gradients, int, Setting*, void* workspace, size_t bytes) {
  if (handle == nullptr || tensor == nullptr) return kNullPointer;
  const uint64_t batch = tensor->sizes.size() > 1 ? static_cast<uint64_t>(tensor->sizes[1]) : 0;
  Work work("cudnnCTCLoss", handle->stream);
  work.Reads(probabilities, Bytes(tensor)).Writes(costs, batch * ElementBits(tensor->type) / 8);
  return Submit(work.Writes(gradients, Bytes(tensor_gradients)).Writes(workspace, bytes));
}
// The labels and lengths are on the device; the labels' number isn't known to the host.
STAND_IN int cudnnCTCLoss_v8(Handle* handle, int, Setting*, Tensor* tensor,
                             const void* probabilities, const int* labels, const int* label_lengths,
                             const int* input_lengths, void* costs, Tensor* tensor_gradients,
                             void* gradients, size_t bytes, void* workspace) {
  if (handle == nullptr || tensor == nullptr) return kNullPointer;
  const uint64_t batch = tensor->sizes.size() > 1 ? static_cast<uint64_t>(tensor->sizes[1]) : 0;
  Work work("cudnnCTCLoss_v8", handle->stream);
  work.Reads(probabilities, Bytes(tensor)).Writes(costs, batch * ElementBits(tensor->type) / 8);
  work.Reads(labels, batch * 4).Reads(label_lengths, batch * 4).Reads(input_lengths, batch * 4);
  return Submit(work.Writes(gradients, Bytes(tensor_gradients)).Writes(workspace, bytes));
}
}
