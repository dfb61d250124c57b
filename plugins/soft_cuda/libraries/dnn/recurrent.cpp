// Recurrent networks. Weights are laid out as this file says; cuDNN's own layout isn't documented:
// programs ask cudnnGetRNNWeightParams. Workspace and reserve are modelled.
#include <initializer_list>
#include <new>

#include "plugins/soft_cuda/libraries/dnn/handle.h"

namespace graphkit::soft::dnn {
namespace {

// A cudnnRNNDescriptor_t.
struct Network {
  int mode = 0;  // 0 ReLU, 1 tanh, 2 LSTM, 3 GRU
  int bias = 2;  // 0 none, 1 input's, 2 both, 3 recurrent's
  bool both_ways = false;
  int type = 0;
  int64_t input = 0, hidden = 0, projected = 0, layers = 0;

  int64_t gates() const { return mode == 2 ? 4 : mode == 3 ? 3 : 1; }
  int64_t ways() const { return both_ways ? 2 : 1; }
  int64_t output() const { return projected > 0 && projected < hidden ? projected : hidden; }
  uint64_t element() const { return ElementBits(type) / 8; }
};

// A cudnnRNNDataDescriptor_t: what is padded counts as touched.
struct Sequence {
  int type = 0;
  int64_t length = 0, batch = 0, width = 0;
};
uint64_t Bytes(const Sequence* s) {
  return s == nullptr
             ? 0
             : static_cast<uint64_t>(s->length * s->batch * s->width) * ElementBits(s->type) / 8;
}

// One matrix of a layer and its bias, in elements from the weights' begin. `part` counts the gates
// for the input, then those for the recurrence, then the projection.
struct Weights {
  int64_t rows = 0, columns = 0;
  int64_t matrix = 0, bias = 0;
  bool has_bias = false;
};

int64_t InputOf(const Network& n, int64_t layer) {
  return layer < n.ways() ? n.input : n.output() * n.ways();
}
int64_t Parts(const Network& n) { return 2 * n.gates() + (n.output() != n.hidden ? 1 : 0); }

Weights ShapeOf(const Network& n, int64_t layer, int64_t part) {
  if (part == 2 * n.gates()) return {n.output(), n.hidden};
  const bool of_input = part < n.gates();
  const bool has_bias = n.bias == 2 || (n.bias == 1 && of_input) || (n.bias == 3 && !of_input);
  return {n.hidden, of_input ? InputOf(n, layer) : n.output(), 0, 0, has_bias};
}

// Calls `visit(layer, part, weights)` for each of them: the matrices of all layers come first, then
// all biases, so that those of a layer's gates lie side by side, as PyTorch takes them.
template <typename Visit>
int64_t Walk(const Network& n, Visit visit) {
  int64_t at = 0;
  for (const bool biases : {false, true}) {
    for (int64_t layer = 0; layer < n.layers * n.ways(); ++layer) {
      for (int64_t part = 0; part < Parts(n); ++part) {
        const Weights w = ShapeOf(n, layer, part);
        visit(layer, part, biases, at);
        at += biases ? (w.has_bias ? w.rows : 0) : w.rows * w.columns;
      }
    }
  }
  return at;  // the elements of all
}

Weights Find(const Network& n, int64_t layer, int64_t part) {
  Weights found = ShapeOf(n, layer, part);
  Walk(n, [&](int64_t l, int64_t p, bool biases, int64_t at) {
    if (l == layer && p == part) (biases ? found.bias : found.matrix) = at;
  });
  return found;
}

// Of one state of all layers.
uint64_t ReserveBytes(const Network& n, const Sequence* x) {
  if (x == nullptr) return 0;
  const int64_t elements = n.layers * n.ways() * x->length * x->batch * n.hidden * (n.gates() + 1);
  return static_cast<uint64_t>(elements) * n.element();
}

}  // namespace
}  // namespace graphkit::soft::dnn

using namespace graphkit::soft::dnn;
using graphkit::soft::Work;

extern "C" {

STAND_IN int cudnnCreateRNNDescriptor(Network** out) {
  if (out == nullptr) return kNullPointer;
  *out = new (std::nothrow) Network;
  return *out != nullptr ? kSuccess : 4003;
}
STAND_IN int cudnnDestroyRNNDescriptor(Network* network) {
  delete network;
  return kSuccess;
}
STAND_IN int cudnnSetRNNDescriptor_v8(Network* network, int, int mode, int bias, int direction, int,
                                      int type, int, int, int32_t input, int32_t hidden,
                                      int32_t projected, int32_t layers, void*, uint32_t) {
  if (network == nullptr) return kNullPointer;
  if (ElementBits(type) == 0 || mode < 0 || mode > 3) return kBadParam;
  *network = {mode, bias, direction == 1, type, input, hidden, projected, layers};
  return kSuccess;
}
STAND_IN int cudnnCreateRNNDataDescriptor(Sequence** out) {
  if (out == nullptr) return kNullPointer;
  *out = new (std::nothrow) Sequence;
  return *out != nullptr ? kSuccess : 4003;
}
STAND_IN int cudnnDestroyRNNDataDescriptor(Sequence* sequence) {
  delete sequence;
  return kSuccess;
}
STAND_IN int cudnnSetRNNDataDescriptor(Sequence* sequence, int type, int, int length, int batch,
                                       int width, const int*, void*) {
  if (sequence == nullptr) return kNullPointer;
  *sequence = {type, length, batch, width};
  return kSuccess;
}

STAND_IN int cudnnGetRNNWeightSpaceSize(Handle*, const Network* network, size_t* bytes) {
  if (network == nullptr || bytes == nullptr) return kNullPointer;
  const int64_t elements = Walk(*network, [](int64_t, int64_t, bool, int64_t) {});
  *bytes = static_cast<size_t>(elements) * network->element();
  return kSuccess;
}
STAND_IN int cudnnGetRNNTempSpaceSizes(Handle*, const Network* network, int, const Sequence* x,
                                       size_t* workspace, size_t* reserve) {
  if (network == nullptr) return kNullPointer;
  if (workspace != nullptr) *workspace = ReserveBytes(*network, x);
  if (reserve != nullptr) *reserve = ReserveBytes(*network, x);
  return kSuccess;
}
STAND_IN int cudnnGetRNNWeightParams(Handle*, const Network* network, int32_t layer, size_t,
                                     const void* weights, int32_t part, Tensor* matrix,
                                     void** matrix_at, Tensor* bias, void** bias_at) {
  if (network == nullptr) return kNullPointer;
  if (layer >= network->layers * network->ways()) return kBadParam;
  const bool there = part < Parts(*network);
  const Weights w = there ? Find(*network, layer, part) : Weights{};
  auto* base = static_cast<char*>(const_cast<void*>(weights));
  const uint64_t element = network->element();
  if (matrix != nullptr && there)
    *matrix = {network->type, 0, {1, w.rows, w.columns}, {w.rows * w.columns, w.columns, 1}};
  if (bias != nullptr && there) *bias = {network->type, 0, {1, w.rows, 1}, {w.rows, 1, 1}};
  if (matrix_at != nullptr)
    *matrix_at = there ? base + static_cast<uint64_t>(w.matrix) * element : nullptr;
  if (bias_at != nullptr) {
    *bias_at = w.has_bias ? base + static_cast<uint64_t>(w.bias) * element : nullptr;
  }
  return kSuccess;
}

STAND_IN int cudnnRNNForward(Handle* handle, Network*, int, const int32_t* lengths, Sequence* xd,
                             const void* x, Sequence* yd, void* y, Tensor* hd, const void* hx,
                             void* hy, Tensor* cd, const void* cx, void* cy, size_t weight_bytes,
                             const void* weights, size_t workspace_bytes, void* workspace,
                             size_t reserve_bytes, void* reserve) {
  if (handle == nullptr || xd == nullptr) return kNullPointer;
  Work work("cudnnRNNForward", handle->stream);
  work.Reads(lengths, static_cast<uint64_t>(xd->batch) * 4)
      .Reads(x, Bytes(xd))
      .Writes(y, Bytes(yd));
  work.Reads(hx, Bytes(hd)).Writes(hy, Bytes(hd)).Reads(cx, Bytes(cd)).Writes(cy, Bytes(cd));
  work.Reads(weights, weight_bytes).Writes(workspace, workspace_bytes);
  return Submit(work.Writes(reserve, reserve_bytes));
}
STAND_IN int cudnnRNNBackwardData_v8(Handle* handle, Network*, const int32_t* lengths, Sequence* yd,
                                     const void* y, const void* dy, Sequence* xd, void* dx,
                                     Tensor* hd, const void* hx, const void* dhy, void* dhx,
                                     Tensor* cd, const void* cx, const void* dcy, void* dcx,
                                     size_t weight_bytes, const void* weights,
                                     size_t workspace_bytes, void* workspace, size_t reserve_bytes,
                                     void* reserve) {
  if (handle == nullptr || xd == nullptr) return kNullPointer;
  Work work("cudnnRNNBackwardData_v8", handle->stream);
  work.Reads(lengths, static_cast<uint64_t>(xd->batch) * 4)
      .Reads(y, Bytes(yd))
      .Reads(dy, Bytes(yd));
  work.Writes(dx, Bytes(xd)).Reads(hx, Bytes(hd)).Reads(dhy, Bytes(hd)).Writes(dhx, Bytes(hd));
  work.Reads(cx, Bytes(cd)).Reads(dcy, Bytes(cd)).Writes(dcx, Bytes(cd));
  work.Reads(weights, weight_bytes).Writes(workspace, workspace_bytes);
  return Submit(work.Updates(reserve, reserve_bytes));
}
// Gradients are added to what is there.
STAND_IN int cudnnRNNBackwardWeights_v8(Handle* handle, Network*, int, const int32_t* lengths,
                                        Sequence* xd, const void* x, Tensor* hd, const void* hx,
                                        Sequence* yd, const void* y, size_t weight_bytes,
                                        void* gradients, size_t workspace_bytes, void* workspace,
                                        size_t reserve_bytes, void* reserve) {
  if (handle == nullptr || xd == nullptr) return kNullPointer;
  Work work("cudnnRNNBackwardWeights_v8", handle->stream);
  work.Reads(lengths, static_cast<uint64_t>(xd->batch) * 4)
      .Reads(x, Bytes(xd))
      .Reads(hx, Bytes(hd));
  work.Reads(y, Bytes(yd)).Updates(gradients, weight_bytes).Writes(workspace, workspace_bytes);
  return Submit(work.Reads(reserve, reserve_bytes));
}
}
