// Calls on matrices (level 3) other than gemm, and on batches of them.
#include "plugins/soft_cuda/libraries/blas/forms.h"

namespace graphkit::soft::blas {
namespace {

// C = f(A, B) + beta C; a null B is none.
Status Combine(const char* name, const Handle* handle, uint64_t element, const Matrix& a,
               const Matrix& b, const Matrix& c, const void* alpha, const void* beta,
               bool reads_c = true) {
  if (handle == nullptr) return kNotInitialized;
  if (c.rows < 0 || c.columns < 0) return kInvalidValue;
  if (c.rows == 0 || c.columns == 0) return kSuccess;
  Call call(name, *handle);
  call.Scalar(alpha, element).Scalar(beta, element);
  call.Reads(a.at, Bytes(a, element)).Reads(b.at, Bytes(b, element));
  const bool updates = reads_c && !IsZero(*handle, beta, element);
  call.Uses(c.at, Bytes(c, element), updates ? GRAPHKIT_SOFT_UPDATES : GRAPHKIT_SOFT_WRITES);
  return call.Workspace().Submit();
}

// B = alpha op(A)^-1 B.
Status Solve(const char* name, const Handle* handle, uint64_t element, const Matrix& a,
             const Matrix& b, const void* alpha) {
  if (handle == nullptr) return kNotInitialized;
  if (b.rows == 0 || b.columns == 0) return kSuccess;
  Call call(name, *handle);
  call.Scalar(alpha, element);
  call.Reads(a.at, Bytes(a, element)).Updates(b.at, Bytes(b, element));
  return call.Workspace().Submit();
}

// The matrices are behind arrays of addresses on the device; further outputs lie side by side.
struct Batch {
  const void* first = nullptr;
  const void* second = nullptr;
  int64_t count = 0;
  const void* integers = nullptr;  // pivots
  int64_t integers_each = 0;
  const void* info = nullptr;  // an int each, on the device
};

Status OfBatch(const char* name, const Handle* handle, const Batch& batch,
               int* host_info = nullptr) {
  if (handle == nullptr) return kNotInitialized;
  if (batch.count < 0) return kInvalidValue;
  if (host_info != nullptr) *host_info = 0;
  if (batch.count == 0) return kSuccess;
  const auto count = static_cast<uint64_t>(batch.count);
  Call call(name, *handle);
  call.Addresses(batch.first, count * 8).Addresses(batch.second, count * 8);
  call.Updates(batch.integers, count * static_cast<uint64_t>(batch.integers_each) * 4);
  call.Writes(batch.info, count * 4);
  return call.Submit();
}

}  // namespace
}  // namespace graphkit::soft::blas

using namespace graphkit::soft::blas;

#define SYMM(name, Int, e)                                                                     \
  STAND_IN int name(Handle* h, int side, int, Int m, Int n, const void* alpha, const void* a,  \
                    Int lda, const void* b, Int ldb, const void* beta, void* c, Int ldc) {     \
    const Int order = side == 0 ? m : n;                                                       \
    return Combine(#name, h, e, {a, order, order, lda}, {b, m, n, ldb}, {c, m, n, ldc}, alpha, \
                   beta);                                                                      \
  }
#define SYRK(name, Int, e)                                                                      \
  STAND_IN int name(Handle* h, int, int op, Int n, Int k, const void* alpha, const void* a,     \
                    Int lda, const void* beta, void* c, Int ldc) {                              \
    return Combine(#name, h, e, {a, op == 0 ? n : k, op == 0 ? k : n, lda}, {}, {c, n, n, ldc}, \
                   alpha, beta);                                                                \
  }
#define SYR2K(name, Int, e)                                                                       \
  STAND_IN int name(Handle* h, int, int op, Int n, Int k, const void* alpha, const void* a,       \
                    Int lda, const void* b, Int ldb, const void* beta, void* c, Int ldc) {        \
    const Int rows = op == 0 ? n : k, columns = op == 0 ? k : n;                                  \
    return Combine(#name, h, e, {a, rows, columns, lda}, {b, rows, columns, ldb}, {c, n, n, ldc}, \
                   alpha, beta);                                                                  \
  }
#define TRMM(name, Int, e)                                                                     \
  STAND_IN int name(Handle* h, int side, int, int, int, Int m, Int n, const void* alpha,       \
                    const void* a, Int lda, const void* b, Int ldb, void* c, Int ldc) {        \
    const Int order = side == 0 ? m : n;                                                       \
    return Combine(#name, h, e, {a, order, order, lda}, {b, m, n, ldb}, {c, m, n, ldc}, alpha, \
                   nullptr, false);                                                            \
  }
#define TRSM(name, Int, e)                                                               \
  STAND_IN int name(Handle* h, int side, int, int, int, Int m, Int n, const void* alpha, \
                    const void* a, Int lda, void* b, Int ldb) {                          \
    const Int order = side == 0 ? m : n;                                                 \
    return Solve(#name, h, e, {a, order, order, lda}, {b, m, n, ldb}, alpha);            \
  }
#define GEAM(name, Int, e)                                                                         \
  STAND_IN int name(Handle* h, int op_a, int op_b, Int m, Int n, const void* alpha, const void* a, \
                    Int lda, const void* beta, const void* b, Int ldb, void* c, Int ldc) {         \
    return Combine(#name, h, e, {a, op_a == 0 ? m : n, op_a == 0 ? n : m, lda},                    \
                   {b, op_b == 0 ? m : n, op_b == 0 ? n : m, ldb}, {c, m, n, ldc}, alpha, beta,    \
                   false);                                                                         \
  }
#define TRSM_BATCHED(name, Int, e)                                                            \
  STAND_IN int name(Handle* h, int, int, int, int, Int, Int, const void*, const void* a, Int, \
                    const void* b, Int, Int count) {                                          \
    return OfBatch(#name, h, {.first = a, .second = b, .count = count});                      \
  }

// Factorizations and solutions of batches, which have no form with sizes of 64 bits.
#define BATCHES(Letter)                                                                         \
  STAND_IN int cublas##Letter##getrfBatched(Handle* h, int n, const void* a, int, void* pivots, \
                                            void* info, int count) {                            \
    return OfBatch("cublas" #Letter "getrfBatched", h, {a, nullptr, count, pivots, n, info});   \
  }                                                                                             \
  STAND_IN int cublas##Letter##getriBatched(Handle* h, int n, const void* a, int,               \
                                            const void* pivots, const void* c, int, void* info, \
                                            int count) {                                        \
    return OfBatch("cublas" #Letter "getriBatched", h, {a, c, count, pivots, n, info});         \
  }                                                                                             \
  STAND_IN int cublas##Letter##getrsBatched(Handle* h, int, int n, int, const void* a, int,     \
                                            const void* pivots, const void* b, int, int* info,  \
                                            int count) {                                        \
    return OfBatch("cublas" #Letter "getrsBatched", h, {a, b, count, pivots, n}, info);         \
  }                                                                                             \
  STAND_IN int cublas##Letter##geqrfBatched(Handle* h, int, int, const void* a, int,            \
                                            const void* tau, int* info, int count) {            \
    return OfBatch("cublas" #Letter "geqrfBatched", h, {a, tau, count}, info);                  \
  }                                                                                             \
  STAND_IN int cublas##Letter##gelsBatched(Handle* h, int, int, int, int, const void* a, int,   \
                                           const void* c, int, int* info, void* device_info,    \
                                           int count) {                                         \
    return OfBatch("cublas" #Letter "gelsBatched", h,                                           \
                   {.first = a, .second = c, .count = count, .info = device_info}, info);       \
  }

extern "C" {

ALL(SYMM, symm_v2)
COMPLEX(SYMM, hemm_v2)
ALL(SYRK, syrk_v2)
COMPLEX(SYRK, herk_v2)
ALL(SYR2K, syr2k_v2)
COMPLEX(SYR2K, her2k_v2)
ALL(TRMM, trmm_v2)
ALL(TRSM, trsm_v2)
ALL(GEAM, geam)
ALL(TRSM_BATCHED, trsmBatched)
BATCHES(S)
BATCHES(D)
BATCHES(C)
BATCHES(Z)
}
