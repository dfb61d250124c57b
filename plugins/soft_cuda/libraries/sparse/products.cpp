// Products with sparse matrices, and triangular solutions, by the generic interface. How many
// entries a product of two sparse matrices has follows from values, so it has none.
#include <new>

#include "plugins/soft_cuda/libraries/sparse/matrix.h"

namespace graphkit::soft::sparse {
namespace {

// So that a call with a workspace is told from one that asks for its size.
constexpr size_t kProductBuffer = 512;

// y = alpha A x + beta y, of vectors or matrices.
int Multiply(const char* name, const Handle* handle, const void* alpha, const SparseMatrix* a,
             const DenseMatrix* x, const void* beta, const DenseMatrix* y, int type) {
  if (handle == nullptr) return kNoHandle;
  if (a == nullptr || x == nullptr || y == nullptr) return kBadValue;
  SparseCall call(name, *handle);
  call.Scalar(alpha, BytesOf(1, type)).Scalar(beta, BytesOf(1, type));
  call.ReadsMatrix(*a).Reads(x->values, x->bytes());
  return call.Adds(y->values, y->bytes(), beta, type).Done();
}

// C = alpha A B + beta C at the places that the sparse C has.
int Sample(const char* name, const Handle* handle, const void* alpha, const DenseMatrix* a,
           const DenseMatrix* b, const void* beta, const SparseMatrix* c, int type) {
  if (handle == nullptr) return kNoHandle;
  if (a == nullptr || b == nullptr || c == nullptr) return kBadValue;
  SparseCall call(name, *handle);
  call.Scalar(alpha, BytesOf(1, type)).Scalar(beta, BytesOf(1, type));
  call.Reads(a->values, a->bytes()).Reads(b->values, b->bytes());
  call.ReadsPattern(*c);
  return call.Adds(c->values, c->values_bytes(), beta, type).Done();
}

int Solve(const char* name, const Handle* handle, const void* alpha, const SparseMatrix* a,
          const DenseMatrix* b, const DenseMatrix* x, int type) {
  if (handle == nullptr) return kNoHandle;
  if (a == nullptr || b == nullptr || x == nullptr) return kBadValue;
  SparseCall call(name, *handle);
  call.Scalar(alpha, BytesOf(1, type));
  call.ReadsMatrix(*a).Reads(b->values, b->bytes()).Writes(x->values, x->bytes());
  return call.Done();
}

int Analyze(const char* name, const Handle* handle, const SparseMatrix* a) {
  if (handle == nullptr) return kNoHandle;
  if (a == nullptr) return kBadValue;
  return SparseCall(name, *handle).ReadsMatrix(*a).Done();
}

// A phase of a product of two sparse matrices that finds out what the product will need.
int Estimate(const char* name, const Handle* handle, const SparseMatrix* a, const SparseMatrix* b,
             size_t* bytes, const void* buffer) {
  if (handle == nullptr) return kNoHandle;
  if (a == nullptr || b == nullptr || bytes == nullptr) return kBadValue;
  if (buffer == nullptr) return *bytes = kProductBuffer, kDone;
  SparseCall call(name, *handle);
  call.ReadsMatrix(*a).ReadsMatrix(*b).Writes(buffer, *bytes);
  return call.Done();
}

struct Progress {};  // cusparseSpGEMMDescr_t and its like

int MakeProgress(Progress** out) {
  if (out == nullptr) return kBadValue;
  *out = new (std::nothrow) Progress;
  return *out != nullptr ? kDone : 2;
}

}  // namespace
}  // namespace graphkit::soft::sparse

using namespace graphkit::soft::sparse;

extern "C" {

STAND_IN int cusparseSpMV_bufferSize(Handle*, int, const void*, const SparseMatrix*,
                                     const DenseMatrix*, const void*, const DenseMatrix*, int, int,
                                     size_t* bytes) {
  return NoBuffer(bytes);
}
STAND_IN int cusparseSpMV(Handle* h, int, const void* alpha, const SparseMatrix* a,
                          const DenseMatrix* x, const void* beta, const DenseMatrix* y, int type,
                          int, void*) {
  return Multiply("cusparseSpMV", h, alpha, a, x, beta, y, type);
}
STAND_IN int cusparseSpMM_bufferSize(Handle*, int, int, const void*, const SparseMatrix*,
                                     const DenseMatrix*, const void*, const DenseMatrix*, int, int,
                                     size_t* bytes) {
  return NoBuffer(bytes);
}
STAND_IN int cusparseSpMM(Handle* h, int, int, const void* alpha, const SparseMatrix* a,
                          const DenseMatrix* b, const void* beta, const DenseMatrix* c, int type,
                          int, void*) {
  return Multiply("cusparseSpMM", h, alpha, a, b, beta, c, type);
}
STAND_IN int cusparseSDDMM_bufferSize(Handle*, int, int, const void*, const DenseMatrix*,
                                      const DenseMatrix*, const void*, const SparseMatrix*, int,
                                      int, size_t* bytes) {
  return NoBuffer(bytes);
}
STAND_IN int cusparseSDDMM_preprocess(Handle* h, int, int, const void*, const DenseMatrix*,
                                      const DenseMatrix*, const void*, const SparseMatrix* c, int,
                                      int, void*) {
  return Analyze("cusparseSDDMM_preprocess", h, c);
}
STAND_IN int cusparseSDDMM(Handle* h, int, int, const void* alpha, const DenseMatrix* a,
                           const DenseMatrix* b, const void* beta, const SparseMatrix* c, int type,
                           int, void*) {
  return Sample("cusparseSDDMM", h, alpha, a, b, beta, c, type);
}

#define PROGRESS(kind)                                                                    \
  STAND_IN int cusparse##kind##_createDescr(Progress** out) { return MakeProgress(out); } \
  STAND_IN int cusparse##kind##_destroyDescr(Progress* progress) { return delete progress, kDone; }
PROGRESS(SpGEMM)
PROGRESS(SpSM)
PROGRESS(SpSV)
#define SPGEMM_PHASE(name)                                                                        \
  STAND_IN int name(Handle* h, int, int, const void*, const SparseMatrix* a,                      \
                    const SparseMatrix* b, const void*, const SparseMatrix*, int, int, Progress*, \
                    size_t* bytes, void* buffer) {                                                \
    return Estimate(#name, h, a, b, bytes, buffer);                                               \
  }
SPGEMM_PHASE(cusparseSpGEMM_workEstimation)
SPGEMM_PHASE(cusparseSpGEMM_compute)
STAND_IN int cusparseSpGEMM_copy(Handle* h, int, int, const void*, const SparseMatrix* a,
                                 const SparseMatrix* b, const void*, const SparseMatrix* c, int,
                                 int, Progress*) {
  if (h == nullptr) return kNoHandle;
  if (a == nullptr || b == nullptr || c == nullptr) return kBadValue;
  return SparseCall("cusparseSpGEMM_copy", *h)
      .ReadsMatrix(*a)
      .ReadsMatrix(*b)
      .WritesMatrix(*c)
      .Done();
}

STAND_IN int cusparseSpSV_bufferSize(Handle*, int, const void*, const SparseMatrix*,
                                     const DenseMatrix*, const DenseMatrix*, int, int, Progress*,
                                     size_t* bytes) {
  return NoBuffer(bytes);
}
STAND_IN int cusparseSpSV_analysis(Handle* h, int, const void*, const SparseMatrix* a,
                                   const DenseMatrix*, const DenseMatrix*, int, int, Progress*,
                                   void*) {
  return Analyze("cusparseSpSV_analysis", h, a);
}
STAND_IN int cusparseSpSV_solve(Handle* h, int, const void* alpha, const SparseMatrix* a,
                                const DenseMatrix* b, const DenseMatrix* x, int type, int,
                                Progress*) {
  return Solve("cusparseSpSV_solve", h, alpha, a, b, x, type);
}
STAND_IN int cusparseSpSM_bufferSize(Handle*, int, int, const void*, const SparseMatrix*,
                                     const DenseMatrix*, const DenseMatrix*, int, int, Progress*,
                                     size_t* bytes) {
  return NoBuffer(bytes);
}
STAND_IN int cusparseSpSM_analysis(Handle* h, int, int, const void*, const SparseMatrix* a,
                                   const DenseMatrix*, const DenseMatrix*, int, int, Progress*,
                                   void*) {
  return Analyze("cusparseSpSM_analysis", h, a);
}
STAND_IN int cusparseSpSM_solve(Handle* h, int, int, const void* alpha, const SparseMatrix* a,
                                const DenseMatrix* b, const DenseMatrix* x, int type, int,
                                Progress*) {
  return Solve("cusparseSpSM_solve", h, alpha, a, b, x, type);
}
}
