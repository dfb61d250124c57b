// Calls on vectors (level 1) and on a matrix and vectors (level 2).
#include "plugins/soft_cuda/libraries/blas/forms.h"

namespace graphkit::soft::blas {
namespace {

// x and y are both changed, or `x` is read and `y` written or changed; a null y is none.
Status OfVectors(const char* name, const Handle* handle, uint64_t element, const Vector& x,
                 graphkit_soft_use use_x, const Vector& y, graphkit_soft_use use_y,
                 const void* scalar = nullptr, const void* scalar2 = nullptr) {
  if (handle == nullptr) return kNotInitialized;
  if (x.n <= 0) return kSuccess;
  Call call(name, *handle);
  call.Scalar(scalar, element).Scalar(scalar2, element);
  call.Uses(x.at, Bytes(x, element), use_x).Uses(y.at, Bytes(y, element), use_y);
  return call.Submit();
}

Status Reduce(const char* name, const Handle* handle, uint64_t element, const Vector& x,
              uint64_t element_y, const Vector& y, void* result, uint64_t result_bytes) {
  if (handle == nullptr) return kNotInitialized;
  Call call(name, *handle);
  call.Result(result, result_bytes);
  call.Reads(x.at, Bytes(x, element)).Reads(y.at, Bytes(y, element_y));
  return call.Submit();
}

// y = alpha op(A) x + beta y.
Status MatrixVector(const char* name, const Handle* handle, uint64_t element, const Matrix& a,
                    const Vector& x, const Vector& y, const void* alpha, const void* beta) {
  if (handle == nullptr) return kNotInitialized;
  if (a.rows <= 0 || a.columns <= 0) return kSuccess;
  Call call(name, *handle);
  call.Scalar(alpha, element).Scalar(beta, element);
  call.Reads(a.at, Bytes(a, element)).Reads(x.at, Bytes(x, element));
  const bool only_written = IsZero(*handle, beta, element);
  call.Uses(y.at, Bytes(y, element), only_written ? GRAPHKIT_SOFT_WRITES : GRAPHKIT_SOFT_UPDATES);
  return call.Workspace().Submit();
}

// A changes by products of x and y; a null y is none.
Status RankUpdate(const char* name, const Handle* handle, uint64_t element, const void* alpha,
                  const Vector& x, const Vector& y, const Matrix& a) {
  if (handle == nullptr) return kNotInitialized;
  if (a.rows <= 0 || a.columns <= 0) return kSuccess;
  Call call(name, *handle);
  call.Scalar(alpha, element);
  call.Reads(x.at, Bytes(x, element)).Reads(y.at, Bytes(y, element));
  call.Updates(a.at, Bytes(a, element));
  return call.Submit();
}

// x = op(A) x, or the x for which that was x before.
Status Triangular(const char* name, const Handle* handle, uint64_t element, const Matrix& a,
                  const Vector& x) {
  if (handle == nullptr) return kNotInitialized;
  if (a.rows <= 0) return kSuccess;
  Call call(name, *handle);
  call.Reads(a.at, Bytes(a, element)).Updates(x.at, Bytes(x, element));
  return call.Submit();
}

constexpr auto kReads = GRAPHKIT_SOFT_READS;
constexpr auto kWrites = GRAPHKIT_SOFT_WRITES;
constexpr auto kUpdates = GRAPHKIT_SOFT_UPDATES;

}  // namespace
}  // namespace graphkit::soft::blas

using namespace graphkit::soft::blas;

#define AXPY(name, Int, e)                                                                 \
  STAND_IN int name(Handle* h, Int n, const void* alpha, const void* x, Int incx, void* y, \
                    Int incy) {                                                            \
    return OfVectors(#name, h, e, {x, n, incx}, kReads, {y, n, incy}, kUpdates, alpha);    \
  }
#define COPY(name, Int, e)                                                          \
  STAND_IN int name(Handle* h, Int n, const void* x, Int incx, void* y, Int incy) { \
    return OfVectors(#name, h, e, {x, n, incx}, kReads, {y, n, incy}, kWrites);     \
  }
#define SWAP(name, Int, e)                                                         \
  STAND_IN int name(Handle* h, Int n, void* x, Int incx, void* y, Int incy) {      \
    return OfVectors(#name, h, e, {x, n, incx}, kUpdates, {y, n, incy}, kUpdates); \
  }
#define SCAL(name, Int, e)                                                    \
  STAND_IN int name(Handle* h, Int n, const void* alpha, void* x, Int incx) { \
    return OfVectors(#name, h, e, {x, n, incx}, kUpdates, {}, kReads, alpha); \
  }
#define ROT(name, Int, e)                                                                  \
  STAND_IN int name(Handle* h, Int n, void* x, Int incx, void* y, Int incy, const void* c, \
                    const void* s) {                                                       \
    return OfVectors(#name, h, e, {x, n, incx}, kUpdates, {y, n, incy}, kUpdates, c, s);   \
  }
#define DOT(name, Int, e)                                                               \
  STAND_IN int name(Handle* h, Int n, const void* x, Int incx, const void* y, Int incy, \
                    void* result) {                                                     \
    return Reduce(#name, h, e, {x, n, incx}, e, {y, n, incy}, result, e);               \
  }
#define REDUCE(name, Int, e, result_bytes)                                     \
  STAND_IN int name(Handle* h, Int n, const void* x, Int incx, void* result) { \
    return Reduce(#name, h, e, {x, n, incx}, e, {}, result, result_bytes);     \
  }
#define GEMV(name, Int, e)                                                                      \
  STAND_IN int name(Handle* h, int op, Int m, Int n, const void* alpha, const void* a, Int lda, \
                    const void* x, Int incx, const void* beta, void* y, Int incy) {             \
    return MatrixVector(#name, h, e, {a, m, n, lda}, {x, op == 0 ? n : m, incx},                \
                        {y, op == 0 ? m : n, incy}, alpha, beta);                               \
  }
#define SYMV(name, Int, e)                                                                     \
  STAND_IN int name(Handle* h, int, Int n, const void* alpha, const void* a, Int lda,          \
                    const void* x, Int incx, const void* beta, void* y, Int incy) {            \
    return MatrixVector(#name, h, e, {a, n, n, lda}, {x, n, incx}, {y, n, incy}, alpha, beta); \
  }
#define GER(name, Int, e)                                                                \
  STAND_IN int name(Handle* h, Int m, Int n, const void* alpha, const void* x, Int incx, \
                    const void* y, Int incy, void* a, Int lda) {                         \
    return RankUpdate(#name, h, e, alpha, {x, m, incx}, {y, n, incy}, {a, m, n, lda});   \
  }
#define SYR(name, Int, e)                                                                       \
  STAND_IN int name(Handle* h, int, Int n, const void* alpha, const void* x, Int incx, void* a, \
                    Int lda) {                                                                  \
    return RankUpdate(#name, h, e, alpha, {x, n, incx}, {}, {a, n, n, lda});                    \
  }
#define SYR2(name, Int, e)                                                             \
  STAND_IN int name(Handle* h, int, Int n, const void* alpha, const void* x, Int incx, \
                    const void* y, Int incy, void* a, Int lda) {                       \
    return RankUpdate(#name, h, e, alpha, {x, n, incx}, {y, n, incy}, {a, n, n, lda}); \
  }
#define TRV(name, Int, e)                                                                         \
  STAND_IN int name(Handle* h, int, int, int, Int n, const void* a, Int lda, void* x, Int incx) { \
    return Triangular(#name, h, e, {a, n, n, lda}, {x, n, incx});                                 \
  }

extern "C" {

ALL(AXPY, axpy_v2)
ALL(COPY, copy_v2)
ALL(SWAP, swap_v2)
ALL(SCAL, scal_v2)
BOTH(SCAL, cublasCsscal_v2, kC)
BOTH(SCAL, cublasZdscal_v2, kZ)
ALL(ROT, rot_v2)
BOTH(ROT, cublasCsrot_v2, kC)
BOTH(ROT, cublasZdrot_v2, kZ)
REAL(DOT, dot_v2)
COMPLEX(DOT, dotu_v2)
COMPLEX(DOT, dotc_v2)
BOTH(REDUCE, cublasSnrm2_v2, kS, 4)
BOTH(REDUCE, cublasDnrm2_v2, kD, 8)
BOTH(REDUCE, cublasScnrm2_v2, kC, 4)
BOTH(REDUCE, cublasDznrm2_v2, kZ, 8)
BOTH(REDUCE, cublasSasum_v2, kS, 4)
BOTH(REDUCE, cublasDasum_v2, kD, 8)
BOTH(REDUCE, cublasScasum_v2, kC, 4)
BOTH(REDUCE, cublasDzasum_v2, kZ, 8)
BOTH(REDUCE, cublasIsamax_v2, kS, sizeof(n))
BOTH(REDUCE, cublasIdamax_v2, kD, sizeof(n))
BOTH(REDUCE, cublasIcamax_v2, kC, sizeof(n))
BOTH(REDUCE, cublasIzamax_v2, kZ, sizeof(n))
BOTH(REDUCE, cublasIsamin_v2, kS, sizeof(n))
BOTH(REDUCE, cublasIdamin_v2, kD, sizeof(n))
BOTH(REDUCE, cublasIcamin_v2, kC, sizeof(n))
BOTH(REDUCE, cublasIzamin_v2, kZ, sizeof(n))

STAND_IN int cublasDotEx(Handle* h, int n, const void* x, int type_x, int incx, const void* y,
                         int type_y, int incy, void* result, int type, int) {
  return Reduce("cublasDotEx", h, BytesOf(1, type_x), {x, n, incx}, BytesOf(1, type_y),
                {y, n, incy}, result, BytesOf(1, type));
}

ALL(GEMV, gemv_v2)
ALL(SYMV, symv_v2)
COMPLEX(SYMV, hemv_v2)
REAL(GER, ger_v2)
COMPLEX(GER, geru_v2)
COMPLEX(GER, gerc_v2)
ALL(SYR, syr_v2)
COMPLEX(SYR, her_v2)
ALL(SYR2, syr2_v2)
COMPLEX(SYR2, her2_v2)
ALL(TRV, trmv_v2)
ALL(TRV, trsv_v2)
}
