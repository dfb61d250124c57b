// cuSOLVER's eigenvalues and singular values. Names, orders of arguments and shapes are those of
// cusolverDn.h and its documentation.
#include <new>

#include "plugins/soft_cuda/libraries/blas/solver.h"

namespace graphkit::soft::blas {
namespace {

// Where a batch of matrices or vectors lies: `stride` elements apart.
struct Batched {
  Matrix one{};
  int64_t stride = 0;
};

// A matrix that is destroyed, or only read, and what is found of it.
struct Spectrum {
  Batched a;
  Batched values;  // eigenvalues or singular values
  uint64_t value_bytes = 0;
  Batched left{}, right{};  // vectors; null: none
  const void* info = nullptr;
  int64_t batch = 1;
  const void* workspace = nullptr;
  uint64_t workspace_bytes = 0;
  graphkit_soft_use use_of_a = GRAPHKIT_SOFT_UPDATES;
};

uint64_t Span(const Batched& b, int64_t batch) {
  return BatchSpan(MatrixSpan(b.one.rows, b.one.columns, b.one.leading), b.stride, batch);
}

int Decompose(const char* name, const Handle* handle, uint64_t element, const Spectrum& s) {
  if (handle == nullptr) return kNotInitialized;
  if (element == 0 || s.value_bytes == 0 || s.a.one.rows < 0 || s.a.one.columns < 0) return kBad;
  Work work(name, handle->stream);
  work.Uses(s.a.one.at, Span(s.a, s.batch) * element, s.use_of_a);
  work.Writes(s.values.one.at, Span(s.values, s.batch) * s.value_bytes);
  work.Writes(s.left.one.at, Span(s.left, s.batch) * element);
  work.Writes(s.right.one.at, Span(s.right, s.batch) * element);
  work.Writes(s.info, static_cast<uint64_t>(s.batch) * 4).Writes(s.workspace, s.workspace_bytes);
  return work.Launch() == CUDA_SUCCESS ? kSolved : kFailed;
}

Batched Dense(const void* at, int64_t rows, int64_t columns, int64_t leading) {
  return {{at, rows, columns, leading}, leading * columns};
}
Batched Values(const void* at, int64_t n) { return {{at, n, 1, n}, n}; }

// The part of U that gesvd computes by its job: all columns, the first ones, or none of its own; of
// V^T rows.
Batched Left(signed char job, const void* u, int64_t m, int64_t n, int64_t leading) {
  if (job != 'A' && job != 'S') return {};
  return Dense(u, m, job == 'A' ? m : Smaller(m, n), leading);
}
Batched Right(signed char job, const void* v, int64_t m, int64_t n, int64_t leading) {
  if (job != 'A' && job != 'S') return {};
  return Dense(v, job == 'A' ? n : Smaller(m, n), n, leading);
}
Batched Vectors(bool wanted, const void* at, int64_t rows, int64_t columns, int64_t leading) {
  return wanted ? Dense(at, rows, columns, leading) : Batched();
}

struct Settings {};  // gesvdjInfo_t, syevjInfo_t

int MakeSettings(Settings** out) {
  if (out == nullptr) return kBad;
  *out = new (std::nothrow) Settings;
  return *out != nullptr ? kSolved : 2;
}

struct Parameters;

}  // namespace
}  // namespace graphkit::soft::blas

using namespace graphkit::soft::blas;

// MACRO(letter or name, bytes of an element, bytes of a real one).
#define SINGULAR(Letter, e, real)                                                                  \
  STAND_IN int cusolverDn##Letter##gesvd_bufferSize(Handle*, int, int, int* elements) {            \
    return NoWorkspace(elements);                                                                  \
  }                                                                                                \
  STAND_IN int cusolverDn##Letter##gesvd(                                                          \
      Handle* h, signed char job_u, signed char job_v, int m, int n, void* a, int lda, void* s,    \
      void* u, int ldu, void* v, int ldv, void* work, int elements, void*, int* info) {            \
    return Decompose("cusolverDn" #Letter "gesvd", h, e,                                           \
                     {.a = Dense(a, m, n, lda),                                                    \
                      .values = Values(s, Smaller(m, n)),                                          \
                      .value_bytes = real,                                                         \
                      .left = Left(job_u, u, m, n, ldu),                                           \
                      .right = Right(job_v, v, m, n, ldv),                                         \
                      .info = info,                                                                \
                      .workspace = work,                                                           \
                      .workspace_bytes = static_cast<uint64_t>(elements) * e});                    \
  }                                                                                                \
  STAND_IN int cusolverDn##Letter##gesvdj_bufferSize(Handle*, int, int, int, int, const void*,     \
                                                     int, const void*, const void*, int,           \
                                                     const void*, int, int* elements, Settings*) { \
    return NoWorkspace(elements);                                                                  \
  }                                                                                                \
  STAND_IN int cusolverDn##Letter##gesvdj(Handle* h, int vectors, int econ, int m, int n, void* a, \
                                          int lda, void* s, void* u, int ldu, void* v, int ldv,    \
                                          void* work, int elements, int* info, Settings*) {        \
    return Decompose("cusolverDn" #Letter "gesvdj", h, e,                                          \
                     {.a = Dense(a, m, n, lda),                                                    \
                      .values = Values(s, Smaller(m, n)),                                          \
                      .value_bytes = real,                                                         \
                      .left = Vectors(vectors, u, m, econ ? Smaller(m, n) : m, ldu),               \
                      .right = Vectors(vectors, v, n, econ ? Smaller(m, n) : n, ldv),              \
                      .info = info,                                                                \
                      .workspace = work,                                                           \
                      .workspace_bytes = static_cast<uint64_t>(elements) * e});                    \
  }                                                                                                \
  STAND_IN int cusolverDn##Letter##gesvdjBatched_bufferSize(                                       \
      Handle*, int, int, int, const void*, int, const void*, const void*, int, const void*, int,   \
      int* elements, Settings*, int) {                                                             \
    return NoWorkspace(elements);                                                                  \
  }                                                                                                \
  STAND_IN int cusolverDn##Letter##gesvdjBatched(                                                  \
      Handle* h, int vectors, int m, int n, void* a, int lda, void* s, void* u, int ldu, void* v,  \
      int ldv, void* work, int elements, int* info, Settings*, int batch) {                        \
    return Decompose("cusolverDn" #Letter "gesvdjBatched", h, e,                                   \
                     {.a = Dense(a, m, n, lda),                                                    \
                      .values = Values(s, Smaller(m, n)),                                          \
                      .value_bytes = real,                                                         \
                      .left = Vectors(vectors, u, m, m, ldu),                                      \
                      .right = Vectors(vectors, v, n, n, ldv),                                     \
                      .info = info,                                                                \
                      .batch = batch,                                                              \
                      .workspace = work,                                                           \
                      .workspace_bytes = static_cast<uint64_t>(elements) * e});                    \
  }                                                                                                \
  STAND_IN int cusolverDn##Letter##gesvdaStridedBatched_bufferSize(                                \
      Handle*, int, int, int, int, const void*, int, long long, const void*, long long,            \
      const void*, int, long long, const void*, int, long long, int* elements, int) {              \
    return NoWorkspace(elements);                                                                  \
  }                                                                                                \
  STAND_IN int cusolverDn##Letter##gesvdaStridedBatched(                                           \
      Handle* h, int vectors, int rank, int m, int n, const void* a, int lda, long long stride_a,  \
      void* s, long long stride_s, void* u, int ldu, long long stride_u, void* v, int ldv,         \
      long long stride_v, void* work, int elements, int* info, double*, int batch) {               \
    return Decompose("cusolverDn" #Letter "gesvdaStridedBatched", h, e,                            \
                     {.a = {{a, m, n, lda}, stride_a},                                             \
                      .values = {{s, rank, 1, rank}, stride_s},                                    \
                      .value_bytes = real,                                                         \
                      .left = {{vectors ? u : nullptr, m, rank, ldu}, stride_u},                   \
                      .right = {{vectors ? v : nullptr, n, rank, ldv}, stride_v},                  \
                      .info = info,                                                                \
                      .batch = batch,                                                              \
                      .workspace = work,                                                           \
                      .workspace_bytes = static_cast<uint64_t>(elements) * e,                      \
                      .use_of_a = GRAPHKIT_SOFT_READS});                                           \
  }
#define EIGEN(name, e, real)                                                                       \
  STAND_IN int cusolverDn##name##d_bufferSize(Handle*, int, int, int, const void*, int,            \
                                              const void*, int* elements) {                        \
    return NoWorkspace(elements);                                                                  \
  }                                                                                                \
  STAND_IN int cusolverDn##name##d(Handle* h, int, int, int n, void* a, int lda, void* w,          \
                                   void* work, int elements, int* info) {                          \
    return Eigen("cusolverDn" #name "d", h, e, real, n, a, lda, w, work, elements, info, 1);       \
  }                                                                                                \
  STAND_IN int cusolverDn##name##j_bufferSize(Handle*, int, int, int, const void*, int,            \
                                              const void*, int* elements, Settings*) {             \
    return NoWorkspace(elements);                                                                  \
  }                                                                                                \
  STAND_IN int cusolverDn##name##j(Handle* h, int, int, int n, void* a, int lda, void* w,          \
                                   void* work, int elements, int* info, Settings*) {               \
    return Eigen("cusolverDn" #name "j", h, e, real, n, a, lda, w, work, elements, info, 1);       \
  }                                                                                                \
  STAND_IN int cusolverDn##name##jBatched_bufferSize(Handle*, int, int, int, const void*, int,     \
                                                     const void*, int* elements, Settings*, int) { \
    return NoWorkspace(elements);                                                                  \
  }                                                                                                \
  STAND_IN int cusolverDn##name##jBatched(Handle* h, int, int, int n, void* a, int lda, void* w,   \
                                          void* work, int elements, int* info, Settings*,          \
                                          int batch) {                                             \
    return Eigen("cusolverDn" #name "jBatched", h, e, real, n, a, lda, w, work, elements, info,    \
                 batch);                                                                           \
  }

namespace {

int Eigen(const char* name, const Handle* h, uint64_t element, uint64_t real, int n, void* a,
          int lda, void* w, void* work, int elements, int* info, int batch) {
  return Decompose(name, h, element,
                   {.a = Dense(a, n, n, lda),
                    .values = Values(w, n),
                    .value_bytes = real,
                    .info = info,
                    .batch = batch,
                    .workspace = work,
                    .workspace_bytes = static_cast<uint64_t>(elements) * element});
}

bool IsComplex(int type) { return type == 4 || type == 5; }  // CUDA_C_32F, CUDA_C_64F

}  // namespace

extern "C" {

SINGULAR(S, kS, kS)
SINGULAR(D, kD, kD)
SINGULAR(C, kC, kS)
SINGULAR(Z, kZ, kD)
EIGEN(Ssyev, kS, kS)
EIGEN(Dsyev, kD, kD)
EIGEN(Cheev, kC, kS)
EIGEN(Zheev, kZ, kD)

STAND_IN int cusolverDnXsyevd_bufferSize(Handle*, Parameters*, int, int, int64_t, int, const void*,
                                         int64_t, int, const void*, int, size_t* device,
                                         size_t* host) {
  return NoWorkspace(device, host);
}
STAND_IN int cusolverDnXsyevd(Handle* h, Parameters*, int, int, int64_t n, int type, void* a,
                              int64_t lda, int type_w, void* w, int, void* work, size_t bytes,
                              void*, size_t, int* info) {
  return Decompose("cusolverDnXsyevd", h, BytesOf(1, type),
                   {.a = Dense(a, n, n, lda),
                    .values = Values(w, n),
                    .value_bytes = BytesOf(1, type_w),
                    .info = info,
                    .workspace = work,
                    .workspace_bytes = bytes});
}
STAND_IN int cusolverDnXsyevBatched_bufferSize(Handle*, Parameters*, int, int, int64_t, int,
                                               const void*, int64_t, int, const void*, int,
                                               size_t* device, size_t* host, int64_t) {
  return NoWorkspace(device, host);
}
STAND_IN int cusolverDnXsyevBatched(Handle* h, Parameters*, int, int, int64_t n, int type, void* a,
                                    int64_t lda, int type_w, void* w, int, void* work, size_t bytes,
                                    void*, size_t, int* info, int64_t batch) {
  return Decompose("cusolverDnXsyevBatched", h, BytesOf(1, type),
                   {.a = Dense(a, n, n, lda),
                    .values = Values(w, n),
                    .value_bytes = BytesOf(1, type_w),
                    .info = info,
                    .batch = batch,
                    .workspace = work,
                    .workspace_bytes = bytes});
}

// Eigenvalues of any matrix: complex ones, or real parts and then imaginary ones.
STAND_IN int cusolverDnXgeev_bufferSize(Handle*, Parameters*, int, int, int64_t, int, const void*,
                                        int64_t, int, const void*, int, const void*, int64_t, int,
                                        const void*, int64_t, int, size_t* device, size_t* host) {
  return NoWorkspace(device, host);
}
STAND_IN int cusolverDnXgeev(Handle* h, Parameters*, int left, int right, int64_t n, int type,
                             void* a, int64_t lda, int type_w, void* w, int, void* vl, int64_t ldvl,
                             int, void* vr, int64_t ldvr, int, void* work, size_t bytes, void*,
                             size_t, int* info) {
  return Decompose("cusolverDnXgeev", h, BytesOf(1, type),
                   {.a = Dense(a, n, n, lda),
                    .values = Values(w, IsComplex(type_w) ? n : 2 * n),
                    .value_bytes = BytesOf(1, type_w),
                    .left = Vectors(left, vl, n, n, ldvl),
                    .right = Vectors(right, vr, n, n, ldvr),
                    .info = info,
                    .workspace = work,
                    .workspace_bytes = bytes});
}

#define SETTINGS(Name)                                                              \
  STAND_IN int cusolverDnCreate##Name(Settings** out) { return MakeSettings(out); } \
  STAND_IN int cusolverDnDestroy##Name(Settings* settings) { return delete settings, kSolved; }
SETTINGS(GesvdjInfo)
SETTINGS(SyevjInfo)
// How far they iterate changes no access.
#define ITERATION(name, Value) \
  STAND_IN int name(Settings* s, Value) { return s != nullptr ? kSolved : kBad; }
ITERATION(cusolverDnXgesvdjSetTolerance, double)
ITERATION(cusolverDnXgesvdjSetMaxSweeps, int)
ITERATION(cusolverDnXgesvdjSetSortEig, int)
ITERATION(cusolverDnXsyevjSetTolerance, double)
ITERATION(cusolverDnXsyevjSetMaxSweeps, int)
ITERATION(cusolverDnXsyevjSetSortEig, int)
}
