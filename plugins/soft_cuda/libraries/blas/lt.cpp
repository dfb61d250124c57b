// cuBLASLt: descriptors, one algorithm for everything, and the product with its epilogues.
#include <algorithm>
#include <cstring>
#include <new>
#include <span>

#include "plugins/soft_cuda/libraries/blas/handle.h"

namespace graphkit::soft::blas {
namespace {

enum Order { kColumns = 0, kRows = 1 };  // CUBLASLT_ORDER_COL, CUBLASLT_ORDER_ROW

// cublasLtMatrixLayoutOpaque_t: 64 bytes, which a program may have made room for.
struct Layout {
  int32_t type = 0, order = kColumns;
  uint64_t rows = 0, columns = 0;
  int64_t leading = 0;
  int32_t batch = 1;
  int32_t batch_mode = 0;
  int64_t stride = 0, plane_offset = 0;
};
static_assert(sizeof(Layout) <= 64);

constexpr size_t kMostAttributes = 28;

// A cublasLtMatmulDescOpaque_t: 256 bytes. Attributes that nothing here depends on aren't kept.
struct Operation {
  int32_t compute = 0, scale = 0, pointer_mode = 0, op_a = 0, op_b = 0, op_c = 0, fill = 0;
  int32_t epilogue = 1;
  const void* bias = nullptr;
  int64_t bias_stride = 0;
  const void* aux = nullptr;
  int64_t aux_leading = 0, aux_stride = 0;
  const void* scale_a = nullptr;
  const void* scale_b = nullptr;
  const void* scale_c = nullptr;
  const void* scale_d = nullptr;
  const void* amax = nullptr;
  const void* aux_scale = nullptr;
  const void* aux_amax = nullptr;
  const void* scale_out = nullptr;
  int32_t aux_type = -1, bias_type = -1, multiprocessors = 0;
  int32_t mode_a = 0, mode_b = 0, mode_out = 0;
  int8_t fast = 0;
};
static_assert(sizeof(Operation) <= 256);

// A cublasLtMatmulPreferenceOpaque_t: 64 bytes.
struct Preference {
  uint64_t workspace = 0;
};

struct Algorithm {
  uint64_t data[8];
};
struct Heuristic {
  Algorithm algorithm;
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
};

// Where an attribute of an object lies.
struct Place {
  int attribute;
  size_t offset;
  size_t bytes;
};
#define PLACE(attribute, Object, member) \
  { attribute, offsetof(Object, member), sizeof(Object::member) }

constexpr Place kLayoutPlaces[] = {
    PLACE(0, Layout, type),    PLACE(1, Layout, order),        PLACE(2, Layout, rows),
    PLACE(3, Layout, columns), PLACE(4, Layout, leading),      PLACE(5, Layout, batch),
    PLACE(6, Layout, stride),  PLACE(7, Layout, plane_offset), PLACE(8, Layout, batch_mode)};
constexpr Place kOperationPlaces[] = {
    PLACE(0, Operation, compute),      PLACE(1, Operation, scale),
    PLACE(2, Operation, pointer_mode), PLACE(3, Operation, op_a),
    PLACE(4, Operation, op_b),         PLACE(5, Operation, op_c),
    PLACE(6, Operation, fill),         PLACE(7, Operation, epilogue),
    PLACE(8, Operation, bias),         PLACE(10, Operation, bias_stride),
    PLACE(11, Operation, aux),         PLACE(12, Operation, aux_leading),
    PLACE(13, Operation, aux_stride),  PLACE(15, Operation, multiprocessors),
    PLACE(17, Operation, scale_a),     PLACE(18, Operation, scale_b),
    PLACE(19, Operation, scale_c),     PLACE(20, Operation, scale_d),
    PLACE(21, Operation, amax),        PLACE(22, Operation, aux_type),
    PLACE(23, Operation, aux_scale),   PLACE(24, Operation, aux_amax),
    PLACE(25, Operation, fast),        PLACE(26, Operation, bias_type),
    PLACE(31, Operation, mode_a),      PLACE(32, Operation, mode_b),
    PLACE(36, Operation, scale_out),   PLACE(37, Operation, mode_out)};
static_assert(std::size(kOperationPlaces) == kMostAttributes);
constexpr Place kPreferencePlaces[] = {PLACE(1, Preference, workspace)};

const Place* Find(std::span<const Place> places, int attribute) {
  for (const Place& place : places) {
    if (place.attribute == attribute) return &place;
  }
  return nullptr;
}

Status Set(std::span<const Place> places, void* object, int attribute, const void* value,
           size_t bytes) {
  if (object == nullptr || value == nullptr) return kInvalidValue;
  const Place* place = Find(places, attribute);
  if (place == nullptr) return kSuccess;  // it decides neither memory nor order
  if (bytes != place->bytes) return kInvalidValue;
  std::memcpy(static_cast<char*>(object) + place->offset, value, bytes);
  return kSuccess;
}

Status Get(std::span<const Place> places, const void* object, int attribute, void* value,
           size_t bytes, size_t* written) {
  if (object == nullptr) return kInvalidValue;
  const Place* place = Find(places, attribute);
  if (place == nullptr) return kNotSupported;
  if (written != nullptr) *written = place->bytes;
  if (bytes == 0 && written != nullptr) return kSuccess;
  if (value == nullptr || bytes < place->bytes) return kInvalidValue;
  std::memcpy(value, static_cast<const char*>(object) + place->offset, place->bytes);
  return kSuccess;
}

template <typename Object, typename... Values>
Status Make(Object** out, size_t room, Values... values) {
  if (out == nullptr) return kInvalidValue;
  void* memory = ::operator new(room, std::nothrow);
  if (memory == nullptr) return static_cast<Status>(3);
  *out = new (memory) Object{values...};
  return kSuccess;
}

bool IsKnown(const Layout* layout) {
  return layout != nullptr && ElementBits(layout->type) != 0 &&
         (layout->order == kColumns || layout->order == kRows);
}

uint64_t Elements(const Layout& l) {
  const auto rows = static_cast<int64_t>(l.rows), columns = static_cast<int64_t>(l.columns);
  return l.order == kColumns ? MatrixSpan(rows, columns, l.leading)
                             : MatrixSpan(columns, rows, l.leading);
}
uint64_t Bytes(const Layout& l) {
  return BytesOf(BatchSpan(Elements(l), l.stride, l.batch), l.type);
}

// Scales of a matrix: one float, one a row or column, or one a block
// (CUBLASLT_MATMUL_MATRIX_SCALE_*).
uint64_t ScaleBytes(const Layout& l, int mode) {
  const uint64_t elements = l.rows * l.columns;
  switch (mode) {
    case 1:
      return elements / 16;
    case 2:
      return elements / 32;
    case 3:
      return std::max(l.rows, l.columns) * 4;
    case 4:
      return elements / 128 * 4;
    case 5:
      return (elements / (128 * 128) + 1) * 4;
    default:
      return 4;
  }
}

// Epilogues are bits (CUBLASLT_EPILOGUE_*).
enum Epilogue {
  kBias = 4,
  kGradient = 8,
  kGradientOfBias = 16,
  kGradientOfGelu = 64,
  kAux = 128,
  kBiasGradientA = 256,
  kBiasGradientB = 512
};

void AddBias(Work& work, const Operation& o, const Layout& d) {
  const int type = o.bias_type >= 0 ? o.bias_type : d.type;
  const bool of_b = (o.epilogue & kBiasGradientB) != 0;
  const uint64_t one = of_b ? d.columns : d.rows;
  const uint64_t bytes =
      BytesOf(BatchSpan(one, o.bias_stride, o.bias_stride != 0 ? d.batch : 1), type);
  if ((o.epilogue & kBias) != 0) work.Reads(o.bias, bytes);
  if ((o.epilogue & (kGradientOfBias | kBiasGradientA | kBiasGradientB)) != 0) {
    work.Writes(o.bias, bytes);
  }
}

// The input of the activation, kept for its gradient: bits for ReLU, else of D's type.
void AddAux(Work& work, const Operation& o, const Layout& d) {
  if ((o.epilogue & kAux) == 0) return;
  const bool bits = (o.epilogue & (2 | kGradient)) != 0;
  const uint64_t elements = BatchSpan(static_cast<uint64_t>(o.aux_leading) * d.columns,
                                      o.aux_stride, o.aux_stride != 0 ? d.batch : 1);
  const uint64_t bytes =
      bits ? (elements + 7) / 8 : BytesOf(elements, o.aux_type >= 0 ? o.aux_type : d.type);
  const bool gradient = (o.epilogue & (kGradient | kGradientOfGelu)) != 0;
  work.Uses(o.aux, bytes, gradient ? GRAPHKIT_SOFT_READS : GRAPHKIT_SOFT_WRITES);
}

bool IsZeroScalar(const Operation& o, const void* beta) {
  Handle handle;
  handle.pointer_mode = o.pointer_mode == 0 || o.pointer_mode == 4 ? 0 : 1;
  return o.pointer_mode == 3 || IsZero(handle, beta, BytesOf(1, o.scale));
}

}  // namespace
}  // namespace graphkit::soft::blas

using namespace graphkit::soft::blas;

extern "C" {

STAND_IN int cublasLtCreate(Handle** out) {
  if (out == nullptr) return kInvalidValue;
  *out = new (std::nothrow) Handle;
  return *out != nullptr ? kSuccess : 3;
}
STAND_IN int cublasLtDestroy(Handle* handle) {
  delete handle;
  return kSuccess;
}
STAND_IN size_t cublasLtGetVersion() { return Version(); }
STAND_IN int cublasLtGetProperty(int property, int* value) {
  if (value == nullptr || property < 0 || property > 2) return kInvalidValue;
  *value = property == 0 ? graphkit::soft::kCudaMajor : 0;
  return kSuccess;
}
STAND_IN size_t cublasLtGetCudartVersion() { return Version() / 10000 * 1000; }

STAND_IN int cublasLtMatrixLayoutInit_internal(Layout* layout, size_t room, int type, uint64_t rows,
                                               uint64_t columns, int64_t leading) {
  if (layout == nullptr || room < sizeof(Layout)) return kInvalidValue;
  *layout = {.type = type, .rows = rows, .columns = columns, .leading = leading};
  return kSuccess;
}
STAND_IN int cublasLtMatrixLayoutCreate(Layout** out, int type, uint64_t rows, uint64_t columns,
                                        int64_t leading) {
  const int32_t order = kColumns;
  return Make(out, 64, static_cast<int32_t>(type), order, rows, columns, leading);
}
STAND_IN int cublasLtMatrixLayoutDestroy(Layout* layout) {
  ::operator delete(layout);
  return kSuccess;
}
STAND_IN int cublasLtMatrixLayoutSetAttribute(Layout* layout, int attribute, const void* value,
                                              size_t bytes) {
  return Set(kLayoutPlaces, layout, attribute, value, bytes);
}
STAND_IN int cublasLtMatrixLayoutGetAttribute(const Layout* layout, int attribute, void* value,
                                              size_t bytes, size_t* written) {
  return Get(kLayoutPlaces, layout, attribute, value, bytes, written);
}

STAND_IN int cublasLtMatmulDescInit_internal(Operation* operation, size_t room, int compute,
                                             int scale) {
  if (operation == nullptr || room < sizeof(Operation)) return kInvalidValue;
  *operation = {.compute = compute, .scale = scale};
  return kSuccess;
}
STAND_IN int cublasLtMatmulDescCreate(Operation** out, int compute, int scale) {
  return Make(out, 256, static_cast<int32_t>(compute), static_cast<int32_t>(scale));
}
STAND_IN int cublasLtMatmulDescDestroy(Operation* operation) {
  ::operator delete(operation);
  return kSuccess;
}
STAND_IN int cublasLtMatmulDescSetAttribute(Operation* operation, int attribute, const void* value,
                                            size_t bytes) {
  return Set(kOperationPlaces, operation, attribute, value, bytes);
}
STAND_IN int cublasLtMatmulDescGetAttribute(const Operation* operation, int attribute, void* value,
                                            size_t bytes, size_t* written) {
  return Get(kOperationPlaces, operation, attribute, value, bytes, written);
}

STAND_IN int cublasLtMatmulPreferenceInit_internal(Preference* preference, size_t room) {
  if (preference == nullptr || room < sizeof(Preference)) return kInvalidValue;
  *preference = {};
  return kSuccess;
}
STAND_IN int cublasLtMatmulPreferenceCreate(Preference** out) { return Make(out, 64); }
STAND_IN int cublasLtMatmulPreferenceDestroy(Preference* preference) {
  ::operator delete(preference);
  return kSuccess;
}
STAND_IN int cublasLtMatmulPreferenceSetAttribute(Preference* preference, int attribute,
                                                  const void* value, size_t bytes) {
  return Set(kPreferencePlaces, preference, attribute, value, bytes);
}
STAND_IN int cublasLtMatmulPreferenceGetAttribute(const Preference* preference, int attribute,
                                                  void* value, size_t bytes, size_t* written) {
  return Get(kPreferencePlaces, preference, attribute, value, bytes, written);
}

// One algorithm, which needs no workspace of its own: within any limit.
STAND_IN int cublasLtMatmulAlgoGetHeuristic(Handle*, const Operation* operation, const Layout* a,
                                            const Layout* b, const Layout* c, const Layout* d,
                                            const Preference*, int wanted, Heuristic* out,
                                            int* count) {
  if (operation == nullptr || out == nullptr || count == nullptr || wanted <= 0) {
    return kInvalidValue;
  }
  *count = 0;
  if (!IsKnown(a) || !IsKnown(b) || !IsKnown(c) || !IsKnown(d)) return kNotSupported;
  *out = {};
  out->waves = 1;
  *count = 1;
  return kSuccess;
}
STAND_IN int cublasLtMatmulAlgoInit(Handle*, int, int, int, int, int, int, int id, Algorithm* out) {
  if (out == nullptr) return kInvalidValue;
  *out = {};
  return id == 0 ? kSuccess : kNotSupported;
}
STAND_IN int cublasLtMatmulAlgoGetIds(Handle*, int, int, int, int, int, int, int wanted, int* ids,
                                      int* count) {
  if (ids == nullptr || count == nullptr || wanted <= 0) return kInvalidValue;
  ids[0] = 0;
  *count = 1;
  return kSuccess;
}
STAND_IN int cublasLtMatmulAlgoCheck(Handle*, const Operation* operation, const Layout* a,
                                     const Layout* b, const Layout* c, const Layout* d,
                                     const Algorithm* algorithm, Heuristic* result) {
  if (operation == nullptr || algorithm == nullptr || result == nullptr) return kInvalidValue;
  if (!IsKnown(a) || !IsKnown(b) || !IsKnown(c) || !IsKnown(d)) return kNotSupported;
  *result = {*algorithm, 0, kSuccess, 1, {}};
  return kSuccess;
}
// Tiles, stages and the like decide neither memory nor order: they are taken, and read as 0.
STAND_IN int cublasLtMatmulAlgoConfigSetAttribute(Algorithm* algorithm, int, const void* value,
                                                  size_t) {
  return algorithm != nullptr && value != nullptr ? kSuccess : kInvalidValue;
}
STAND_IN int cublasLtMatmulAlgoConfigGetAttribute(const Algorithm* algorithm, int, void* value,
                                                  size_t bytes, size_t* written) {
  if (algorithm == nullptr || value == nullptr) return kInvalidValue;
  std::memset(value, 0, bytes);
  if (written != nullptr) *written = bytes;
  return kSuccess;
}

STAND_IN int cublasLtMatmul(Handle*, const Operation* operation, const void* alpha, const void* a,
                            const Layout* layout_a, const void* b, const Layout* layout_b,
                            const void* beta, const void* c, const Layout* layout_c, void* d,
                            const Layout* layout_d, const Algorithm*, void* workspace,
                            size_t workspace_bytes, CUstream stream) {
  if (operation == nullptr) return kInvalidValue;
  if (!IsKnown(layout_a) || !IsKnown(layout_b) || !IsKnown(layout_c) || !IsKnown(layout_d)) {
    return kNotSupported;
  }
  const Operation& o = *operation;
  graphkit::soft::Work work("cublasLtMatmul", stream);
  work.Reads(a, Bytes(*layout_a)).Reads(b, Bytes(*layout_b));
  if (o.pointer_mode != 0) {
    const uint64_t scalars = o.pointer_mode == 1 ? 1 : layout_d->rows;
    work.Reads(alpha, BytesOf(scalars, o.scale));
    if (o.pointer_mode < 3) work.Reads(beta, BytesOf(scalars, o.scale));
  }
  if (IsZeroScalar(o, beta)) {
    work.Writes(d, Bytes(*layout_d));
  } else if (c == d) {
    work.Updates(d, Bytes(*layout_d));
  } else {
    work.Reads(c, Bytes(*layout_c)).Writes(d, Bytes(*layout_d));
  }
  work.Reads(o.scale_a, ScaleBytes(*layout_a, o.mode_a))
      .Reads(o.scale_b, ScaleBytes(*layout_b, o.mode_b));
  work.Reads(o.scale_c, 4).Reads(o.scale_d, 4).Reads(o.aux_scale, 4);
  work.Writes(o.amax, 4)
      .Writes(o.aux_amax, 4)
      .Writes(o.scale_out, ScaleBytes(*layout_d, o.mode_out));
  AddBias(work, o, *layout_d);
  AddAux(work, o, *layout_d);
  work.Writes(workspace, workspace_bytes);
  return work.Launch() == CUDA_SUCCESS ? kSuccess : kExecutionFailed;
}

STAND_IN const char* cublasLtGetStatusName(int status) {
  return status == kSuccess        ? "CUBLAS_STATUS_SUCCESS"
         : status == kInvalidValue ? "CUBLAS_STATUS_INVALID_VALUE"
         : status == kNotSupported ? "CUBLAS_STATUS_NOT_SUPPORTED"
                                   : "CUBLAS_STATUS_EXECUTION_FAILED";
}
}
