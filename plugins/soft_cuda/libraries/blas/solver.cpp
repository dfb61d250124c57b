// cuSOLVER's dense factorizations and solutions. Names and orders of arguments are those of its
// documentation.
#include <new>

#include "plugins/soft_cuda/libraries/blas/solver.h"

namespace graphkit::soft::blas {
namespace {

// A factorization in place, or the use of what was factorized: A and B of one call.
struct Factors {
  Matrix a;
  Matrix b{};                    // right sides, or what Q is applied to; null: A is written
  const void* pivots = nullptr;  // or the scalars of reflectors
  uint64_t pivot_bytes = 0;
  bool forms_q = false;        // of the reflectors in A, in their place
  const void* info = nullptr;  // an int on the device
  const void* workspace = nullptr;
  uint64_t workspace_bytes = 0;
};

int Factorize(const char* name, const Handle* handle, uint64_t element_a, uint64_t element_b,
              const Factors& f) {
  if (handle == nullptr) return kNotInitialized;
  if (element_a == 0 || f.a.rows < 0 || f.a.columns < 0) return kBad;
  const bool solves = f.b.at != nullptr;
  Work work(name, handle->stream);
  work.Uses(f.a.at, Bytes(f.a, element_a), solves ? GRAPHKIT_SOFT_READS : GRAPHKIT_SOFT_UPDATES);
  work.Updates(f.b.at, Bytes(f.b, element_b));
  work.Uses(f.pivots, f.pivot_bytes,
            solves || f.forms_q ? GRAPHKIT_SOFT_READS : GRAPHKIT_SOFT_WRITES);
  work.Writes(f.info, 4).Writes(f.workspace, f.workspace_bytes);
  return work.Launch() == CUDA_SUCCESS ? kSolved : kFailed;
}

struct Parameters {};

const int kVersion = kCudaMajor - 1;  // 11 goes with CUDA 12, 12 with CUDA 13

}  // namespace
}  // namespace graphkit::soft::blas

using namespace graphkit::soft::blas;

#define DENSE(Letter, e)                                                                        \
  STAND_IN int cusolverDn##Letter##potrf_bufferSize(Handle*, int, int, void*, int,              \
                                                    int* elements) {                            \
    return NoWorkspace(elements);                                                               \
  }                                                                                             \
  STAND_IN int cusolverDn##Letter##potrf(Handle* h, int, int n, void* a, int lda, void* work,   \
                                         int elements, int* info) {                             \
    return Factorize("cusolverDn" #Letter "potrf", h, e, e,                                     \
                     {.a = {a, n, n, lda},                                                      \
                      .info = info,                                                             \
                      .workspace = work,                                                        \
                      .workspace_bytes = static_cast<uint64_t>(elements) * e});                 \
  }                                                                                             \
  STAND_IN int cusolverDn##Letter##potrs(Handle* h, int, int n, int columns, const void* a,     \
                                         int lda, void* b, int ldb, int* info) {                \
    return Factorize("cusolverDn" #Letter "potrs", h, e, e,                                     \
                     {.a = {a, n, n, lda}, .b = {b, n, columns, ldb}, .info = info});           \
  }                                                                                             \
  STAND_IN int cusolverDn##Letter##getrf_bufferSize(Handle*, int, int, void*, int,              \
                                                    int* elements) {                            \
    return NoWorkspace(elements);                                                               \
  }                                                                                             \
  STAND_IN int cusolverDn##Letter##getrf(Handle* h, int m, int n, void* a, int lda, void* work, \
                                         int* pivots, int* info) {                              \
    return Factorize("cusolverDn" #Letter "getrf", h, e, e,                                     \
                     {.a = {a, m, n, lda},                                                      \
                      .pivots = pivots,                                                         \
                      .pivot_bytes = static_cast<uint64_t>(Smaller(m, n)) * 4,                  \
                      .info = info,                                                             \
                      .workspace = work});                                                      \
  }                                                                                             \
  STAND_IN int cusolverDn##Letter##getrs(Handle* h, int, int n, int columns, const void* a,     \
                                         int lda, const int* pivots, void* b, int ldb,          \
                                         int* info) {                                           \
    return Factorize("cusolverDn" #Letter "getrs", h, e, e,                                     \
                     {.a = {a, n, n, lda},                                                      \
                      .b = {b, n, columns, ldb},                                                \
                      .pivots = pivots,                                                         \
                      .pivot_bytes = static_cast<uint64_t>(n) * 4,                              \
                      .info = info});                                                           \
  }                                                                                             \
  STAND_IN int cusolverDn##Letter##geqrf_bufferSize(Handle*, int, int, void*, int,              \
                                                    int* elements) {                            \
    return NoWorkspace(elements);                                                               \
  }                                                                                             \
  STAND_IN int cusolverDn##Letter##geqrf(Handle* h, int m, int n, void* a, int lda, void* tau,  \
                                         void* work, int elements, int* info) {                 \
    return Factorize("cusolverDn" #Letter "geqrf", h, e, e,                                     \
                     {.a = {a, m, n, lda},                                                      \
                      .pivots = tau,                                                            \
                      .pivot_bytes = static_cast<uint64_t>(Smaller(m, n)) * e,                  \
                      .info = info,                                                             \
                      .workspace = work,                                                        \
                      .workspace_bytes = static_cast<uint64_t>(elements) * e});                 \
  }

// Q, of k reflectors, in the place of A, and its product with C. Complex types have other names.
#define REFLECTORS(Letter, form, apply, e)                                                        \
  STAND_IN int cusolverDn##Letter##form##_bufferSize(Handle*, int, int, int, const void*, int,    \
                                                     const void*, int* elements) {                \
    return NoWorkspace(elements);                                                                 \
  }                                                                                               \
  STAND_IN int cusolverDn##Letter##form(Handle* h, int m, int n, int k, void* a, int lda,         \
                                        const void* tau, void* work, int elements, int* info) {   \
    return Factorize("cusolverDn" #Letter #form, h, e, e,                                         \
                     {.a = {a, m, n, lda},                                                        \
                      .pivots = tau,                                                              \
                      .pivot_bytes = static_cast<uint64_t>(k) * e,                                \
                      .forms_q = true,                                                            \
                      .info = info,                                                               \
                      .workspace = work,                                                          \
                      .workspace_bytes = static_cast<uint64_t>(elements) * e});                   \
  }                                                                                               \
  STAND_IN int cusolverDn##Letter##apply##_bufferSize(Handle*, int, int, int, int, int,           \
                                                      const void*, int, const void*, const void*, \
                                                      int, int* elements) {                       \
    return NoWorkspace(elements);                                                                 \
  }                                                                                               \
  STAND_IN int cusolverDn##Letter##apply(Handle* h, int side, int, int m, int n, int k,           \
                                         const void* a, int lda, const void* tau, void* c,        \
                                         int ldc, void* work, int elements, int* info) {          \
    return Factorize("cusolverDn" #Letter #apply, h, e, e,                                        \
                     {.a = {a, side == 0 ? m : n, k, lda},                                        \
                      .b = {c, m, n, ldc},                                                        \
                      .pivots = tau,                                                              \
                      .pivot_bytes = static_cast<uint64_t>(k) * e,                                \
                      .info = info,                                                               \
                      .workspace = work,                                                          \
                      .workspace_bytes = static_cast<uint64_t>(elements) * e});                   \
  }

extern "C" {

STAND_IN int cusolverGetVersion(int* version) {
  if (version == nullptr) return kBad;
  return *version = kVersion * 1000, kSolved;
}
STAND_IN int cusolverGetProperty(int property, int* value) {
  if (value == nullptr || property < 0 || property > 2) return kBad;
  *value = property == 0 ? kVersion : 0;
  return kSolved;
}
STAND_IN int cusolverDnCreate(Handle** out) {
  if (out == nullptr) return kBad;
  *out = new (std::nothrow) Handle;
  return *out != nullptr ? kSolved : 2;
}
STAND_IN int cusolverDnDestroy(Handle* handle) {
  delete handle;
  return kSolved;
}
STAND_IN int cusolverDnSetStream(Handle* handle, CUstream stream) {
  if (handle == nullptr) return kNotInitialized;
  handle->stream = stream;
  return kSolved;
}
STAND_IN int cusolverDnGetStream(const Handle* handle, CUstream* stream) {
  if (handle == nullptr) return kNotInitialized;
  *stream = handle->stream;
  return kSolved;
}
STAND_IN int cusolverDnCreateParams(Parameters** out) {
  if (out == nullptr) return kBad;
  *out = new (std::nothrow) Parameters;
  return *out != nullptr ? kSolved : 2;
}
STAND_IN int cusolverDnDestroyParams(Parameters* parameters) {
  delete parameters;
  return kSolved;
}

STAND_IN int cusolverDnXpotrf_bufferSize(Handle*, Parameters*, int, int64_t, int, const void*,
                                         int64_t, int, size_t* device, size_t* host) {
  return NoWorkspace(device, host);
}
STAND_IN int cusolverDnXpotrf(Handle* h, Parameters*, int, int64_t n, int type, void* a,
                              int64_t lda, int, void* work, size_t bytes, void*, size_t,
                              int* info) {
  return Factorize(
      "cusolverDnXpotrf", h, BytesOf(1, type), 0,
      {.a = {a, n, n, lda}, .info = info, .workspace = work, .workspace_bytes = bytes});
}
STAND_IN int cusolverDnXpotrs(Handle* h, Parameters*, int, int64_t n, int64_t columns, int type,
                              const void* a, int64_t lda, int type_b, void* b, int64_t ldb,
                              int* info) {
  return Factorize("cusolverDnXpotrs", h, BytesOf(1, type), BytesOf(1, type_b),
                   {.a = {a, n, n, lda}, .b = {b, n, columns, ldb}, .info = info});
}
STAND_IN int cusolverDnXgetrf_bufferSize(Handle*, Parameters*, int64_t, int64_t, int, const void*,
                                         int64_t, int, size_t* device, size_t* host) {
  return NoWorkspace(device, host);
}
STAND_IN int cusolverDnXgetrf(Handle* h, Parameters*, int64_t m, int64_t n, int type, void* a,
                              int64_t lda, int64_t* pivots, int, void* work, size_t bytes, void*,
                              size_t, int* info) {
  return Factorize("cusolverDnXgetrf", h, BytesOf(1, type), 0,
                   {.a = {a, m, n, lda},
                    .pivots = pivots,
                    .pivot_bytes = static_cast<uint64_t>(Smaller(m, n)) * 8,
                    .info = info,
                    .workspace = work,
                    .workspace_bytes = bytes});
}
STAND_IN int cusolverDnXgetrs(Handle* h, Parameters*, int, int64_t n, int64_t columns, int type,
                              const void* a, int64_t lda, const int64_t* pivots, int type_b,
                              void* b, int64_t ldb, int* info) {
  return Factorize("cusolverDnXgetrs", h, BytesOf(1, type), BytesOf(1, type_b),
                   {.a = {a, n, n, lda},
                    .b = {b, n, columns, ldb},
                    .pivots = pivots,
                    .pivot_bytes = static_cast<uint64_t>(n) * 8,
                    .info = info});
}
STAND_IN int cusolverDnXgeqrf_bufferSize(Handle*, Parameters*, int64_t, int64_t, int, const void*,
                                         int64_t, int, const void*, int, size_t* device,
                                         size_t* host) {
  return NoWorkspace(device, host);
}
STAND_IN int cusolverDnXgeqrf(Handle* h, Parameters*, int64_t m, int64_t n, int type, void* a,
                              int64_t lda, int type_tau, void* tau, int, void* work, size_t bytes,
                              void*, size_t, int* info) {
  return Factorize("cusolverDnXgeqrf", h, BytesOf(1, type), 0,
                   {.a = {a, m, n, lda},
                    .pivots = tau,
                    .pivot_bytes = static_cast<uint64_t>(Smaller(m, n)) * BytesOf(1, type_tau),
                    .info = info,
                    .workspace = work,
                    .workspace_bytes = bytes});
}

DENSE(S, kS)
DENSE(D, kD)
DENSE(C, kC)
DENSE(Z, kZ)
REFLECTORS(S, orgqr, ormqr, kS)
REFLECTORS(D, orgqr, ormqr, kD)
REFLECTORS(C, ungqr, unmqr, kC)
REFLECTORS(Z, ungqr, unmqr, kZ)
}
