// Handles and descriptors.
#include "plugins/soft_cuda/libraries/sparse/matrix.h"

#include <cstring>
#include <new>

namespace graphkit::soft::sparse {

uint64_t SparseMatrix::offsets_bytes() const {
  const auto one = static_cast<uint64_t>(offset_count);
  return blas::BatchSpan(one, offsets_stride, batch) * IndexBytes(offset_type);
}
uint64_t SparseMatrix::indices_bytes() const {
  const auto one = static_cast<uint64_t>(entries);
  return blas::BatchSpan(one, values_stride, batch) * IndexBytes(index_type);
}
uint64_t SparseMatrix::values_bytes() const {
  const auto one = static_cast<uint64_t>(entries * entry_values);
  return BytesOf(blas::BatchSpan(one, values_stride * entry_values, batch), value_type);
}

uint64_t DenseMatrix::bytes() const {
  const uint64_t one =
      by_rows ? blas::MatrixSpan(columns, rows, leading) : blas::MatrixSpan(rows, columns, leading);
  return BytesOf(blas::BatchSpan(one, stride, batch), type);
}

SparseCall& SparseCall::ReadsPattern(const SparseMatrix& matrix) {
  Reads(matrix.offsets, matrix.offsets_bytes()).Reads(matrix.indices, matrix.indices_bytes());
  return *this;
}
SparseCall& SparseCall::ReadsMatrix(const SparseMatrix& matrix) {
  ReadsPattern(matrix).Reads(matrix.values, matrix.values_bytes());
  return *this;
}
SparseCall& SparseCall::WritesMatrix(const SparseMatrix& matrix) {
  Writes(matrix.offsets, matrix.offsets_bytes()).Writes(matrix.indices, matrix.indices_bytes());
  Writes(matrix.values, matrix.values_bytes());
  return *this;
}
SparseCall& SparseCall::Adds(const void* at, uint64_t bytes, const void* beta, int compute_type) {
  const bool overwrites = IsZero(handle(), beta, BytesOf(1, compute_type));
  Uses(at, bytes, overwrites ? GRAPHKIT_SOFT_WRITES : GRAPHKIT_SOFT_UPDATES);
  return *this;
}

namespace {

// Returns a new object through a call's first argument.
template <typename T>
int Make(T** out, const T& value) {
  if (out == nullptr) return kBadValue;
  *out = new (std::nothrow) T(value);
  return *out != nullptr ? kDone : 2;
}

// cusparseMatDescr_t.
struct Description {
  int type = 0, fill = 0, diagonal = 0, base = 0;
};

int MakeCompressed(SparseMatrix** out, int64_t rows, int64_t columns, int64_t entries,
                   int64_t offsets, const void* const (&at)[3], const int (&types)[3]) {
  if (rows < 0 || columns < 0 || entries < 0) return kBadValue;
  return Make(out, {.rows = rows,
                    .columns = columns,
                    .entries = entries,
                    .offset_count = offsets,
                    .offsets = at[0],
                    .indices = at[1],
                    .values = at[2],
                    .offset_type = types[0],
                    .index_type = types[1],
                    .value_type = types[2]});
}

}  // namespace
}  // namespace graphkit::soft::sparse

using namespace graphkit::soft::sparse;

extern "C" {

STAND_IN int cusparseCreate(Handle** out) { return Make(out, Handle()); }
STAND_IN int cusparseDestroy(Handle* handle) { return delete handle, kDone; }
STAND_IN int cusparseGetVersion(Handle*, int* version) { return *version = kVersion, kDone; }
STAND_IN int cusparseGetProperty(int property, int* value) {
  if (value == nullptr || property < 0 || property > 2) return kBadValue;
  const int parts[] = {kVersion / 1000, kVersion / 100 % 10, kVersion % 100};
  return *value = parts[property], kDone;
}
STAND_IN int cusparseSetStream(Handle* handle, CUstream stream) {
  if (handle == nullptr) return kNoHandle;
  return handle->stream = stream, kDone;
}
STAND_IN int cusparseGetStream(const Handle* handle, CUstream* stream) {
  if (handle == nullptr) return kNoHandle;
  return *stream = handle->stream, kDone;
}
STAND_IN int cusparseSetPointerMode(Handle* handle, int mode) {
  if (handle == nullptr) return kNoHandle;
  return handle->pointer_mode = mode, kDone;
}
STAND_IN int cusparseGetPointerMode(const Handle* handle, int* mode) {
  if (handle == nullptr) return kNoHandle;
  return *mode = handle->pointer_mode, kDone;
}
STAND_IN const char* cusparseGetErrorName(int status) {
  static constexpr const char* kNames[] = {"CUSPARSE_STATUS_SUCCESS",
                                           "CUSPARSE_STATUS_NOT_INITIALIZED",
                                           "CUSPARSE_STATUS_ALLOC_FAILED",
                                           "CUSPARSE_STATUS_INVALID_VALUE",
                                           "CUSPARSE_STATUS_ARCH_MISMATCH",
                                           "CUSPARSE_STATUS_MAPPING_ERROR",
                                           "CUSPARSE_STATUS_EXECUTION_FAILED",
                                           "CUSPARSE_STATUS_INTERNAL_ERROR",
                                           "CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED",
                                           "CUSPARSE_STATUS_ZERO_PIVOT",
                                           "CUSPARSE_STATUS_NOT_SUPPORTED",
                                           "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES"};
  return status >= 0 && status < 12 ? kNames[status] : "unrecognized error code";
}
STAND_IN const char* cusparseGetErrorString(int status) { return cusparseGetErrorName(status); }

STAND_IN int cusparseCreateMatDescr(Description** out) { return Make(out, Description()); }
STAND_IN int cusparseDestroyMatDescr(Description* description) { return delete description, kDone; }
#define SETTING(Name, member)                                              \
  STAND_IN int cusparseSetMat##Name(Description* description, int value) { \
    if (description == nullptr) return kBadValue;                          \
    return description->member = value, kDone;                             \
  }                                                                        \
  STAND_IN int cusparseGetMat##Name(const Description* description) { return description->member; }
SETTING(Type, type)
SETTING(FillMode, fill)
SETTING(DiagType, diagonal)
SETTING(IndexBase, base)

// Each also for what is only read.
#define COMPRESSED(name, offset_rows)                                                              \
  STAND_IN int name(SparseMatrix** out, int64_t rows, int64_t columns, int64_t entries,            \
                    const void* offsets, const void* indices, const void* values, int offset_type, \
                    int index_type, int, int value_type) {                                         \
    return MakeCompressed(out, rows, columns, entries, (offset_rows) + 1,                          \
                          {offsets, indices, values}, {offset_type, index_type, value_type});      \
  }
COMPRESSED(cusparseCreateCsr, rows)
COMPRESSED(cusparseCreateConstCsr, rows)
COMPRESSED(cusparseCreateCsc, columns)
COMPRESSED(cusparseCreateConstCsc, columns)
#define COORDINATES(name)                                                                       \
  STAND_IN int name(SparseMatrix** out, int64_t rows, int64_t columns, int64_t entries,         \
                    const void* row_indices, const void* indices, const void* values,           \
                    int index_type, int, int value_type) {                                      \
    return MakeCompressed(out, rows, columns, entries, entries, {row_indices, indices, values}, \
                          {index_type, index_type, value_type});                                \
  }
COORDINATES(cusparseCreateCoo)
COORDINATES(cusparseCreateConstCoo)
#define BLOCKS(name)                                                                               \
  STAND_IN int name(SparseMatrix** out, int64_t rows, int64_t columns, int64_t entries,            \
                    int64_t block_rows, int64_t block_columns, const void* offsets,                \
                    const void* indices, const void* values, int offset_type, int index_type, int, \
                    int value_type, int) {                                                         \
    const int status =                                                                             \
        MakeCompressed(out, rows, columns, entries, rows + 1, {offsets, indices, values},          \
                       {offset_type, index_type, value_type});                                     \
    if (status == kDone) (*out)->entry_values = block_rows * block_columns;                        \
    return status;                                                                                 \
  }
BLOCKS(cusparseCreateBsr)
BLOCKS(cusparseCreateConstBsr)
STAND_IN int cusparseDestroySpMat(SparseMatrix* matrix) { return delete matrix, kDone; }
STAND_IN int cusparseSpMatGetSize(const SparseMatrix* matrix, int64_t* rows, int64_t* columns,
                                  int64_t* entries) {
  if (matrix == nullptr) return kBadValue;
  *rows = matrix->rows, *columns = matrix->columns, *entries = matrix->entries;
  return kDone;
}
STAND_IN int cusparseSpMatSetAttribute(SparseMatrix* matrix, int, const void*, size_t) {
  return matrix != nullptr ? kDone : kBadValue;
}
STAND_IN int cusparseSpMatSetValues(SparseMatrix* matrix, void* values) {
  if (matrix == nullptr) return kBadValue;
  return matrix->values = values, kDone;
}
STAND_IN int cusparseCsrSetPointers(SparseMatrix* matrix, void* offsets, void* indices,
                                    void* values) {
  if (matrix == nullptr) return kBadValue;
  matrix->offsets = offsets, matrix->indices = indices, matrix->values = values;
  return kDone;
}
STAND_IN int cusparseCsrSetStridedBatch(SparseMatrix* matrix, int batch, int64_t offsets_stride,
                                        int64_t values_stride) {
  if (matrix == nullptr || batch < 1) return kBadValue;
  matrix->batch = batch;
  matrix->offsets_stride = offsets_stride, matrix->values_stride = values_stride;
  return kDone;
}

#define DENSE_MATRIX(name)                                                             \
  STAND_IN int name(DenseMatrix** out, int64_t rows, int64_t columns, int64_t leading, \
                    const void* values, int type, int order) {                         \
    return Make(out, {rows, columns, leading, values, type, order == 2});              \
  }
#define DENSE_VECTOR(name)                                                             \
  STAND_IN int name(DenseMatrix** out, int64_t size, const void* values, int type) {   \
    return Make(out, {.rows = size, .leading = size, .values = values, .type = type}); \
  }
DENSE_MATRIX(cusparseCreateDnMat)
DENSE_MATRIX(cusparseCreateConstDnMat)
DENSE_VECTOR(cusparseCreateDnVec)
DENSE_VECTOR(cusparseCreateConstDnVec)
STAND_IN int cusparseDestroyDnMat(DenseMatrix* matrix) { return delete matrix, kDone; }
STAND_IN int cusparseDestroyDnVec(DenseMatrix* vector) { return delete vector, kDone; }
STAND_IN int cusparseDnMatSetStridedBatch(DenseMatrix* matrix, int batch, int64_t stride) {
  if (matrix == nullptr || batch < 1) return kBadValue;
  matrix->batch = batch, matrix->stride = stride;
  return kDone;
}
STAND_IN int cusparseDnMatSetValues(DenseMatrix* matrix, void* values) {
  if (matrix == nullptr) return kBadValue;
  return matrix->values = values, kDone;
}
STAND_IN int cusparseDnVecSetValues(DenseMatrix* vector, void* values) {
  return cusparseDnMatSetValues(vector, values);
}
}
