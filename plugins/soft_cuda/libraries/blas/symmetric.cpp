// cuSOLVER's symmetric factorizations with pivots, and its batches of Cholesky factorizations.
#include "plugins/soft_cuda/libraries/blas/solver.h"

using namespace graphkit::soft::blas;

namespace {

int StatusOf(const graphkit::soft::Work& work) {
  return work.Launch() == CUDA_SUCCESS ? kSolved : kFailed;
}

int Symmetric(const char* name, const Handle* h, uint64_t e, const Matrix& a, int* pivots,
              int* info) {
  if (h == nullptr) return kNotInitialized;
  graphkit::soft::Work work(name, h->stream);
  work.Updates(a.at, Bytes(a, e)).Writes(pivots, static_cast<uint64_t>(a.rows) * 4).Writes(info, 4);
  return StatusOf(work);
}

// Of matrices that addresses on the device lead to.
int Batch(const char* name, const Handle* h, const void* a, const void* b, int batch, int* info,
          int infos) {
  if (h == nullptr) return kNotInitialized;
  if (batch < 0) return kBad;
  graphkit::soft::Work work(name, h->stream);
  work.Addresses(a, static_cast<uint64_t>(batch) * 8)
      .Addresses(b, static_cast<uint64_t>(batch) * 8);
  work.Writes(info, static_cast<uint64_t>(infos) * 4);
  return StatusOf(work);
}

}  // namespace

#define SYMMETRIC(Letter, e)                                                                     \
  STAND_IN int cusolverDn##Letter##sytrf_bufferSize(Handle*, int, void*, int, int* elements) {   \
    return NoWorkspace(elements);                                                                \
  }                                                                                              \
  STAND_IN int cusolverDn##Letter##sytrf(Handle* h, int, int n, void* a, int lda, int* pivots,   \
                                         void*, int, int* info) {                                \
    return Symmetric("cusolverDn" #Letter "sytrf", h, e, {a, n, n, lda}, pivots, info);          \
  }                                                                                              \
  STAND_IN int cusolverDn##Letter##potrfBatched(Handle* h, int, int, void* a, int, int* infos,   \
                                                int batch) {                                     \
    return Batch("cusolverDn" #Letter "potrfBatched", h, a, nullptr, batch, infos, batch);       \
  }                                                                                              \
  STAND_IN int cusolverDn##Letter##potrsBatched(Handle* h, int, int, int, void* a, int, void* b, \
                                                int, int* info, int batch) {                     \
    return Batch("cusolverDn" #Letter "potrsBatched", h, a, b, batch, info, 1);                  \
  }

extern "C" {

SYMMETRIC(S, kS)
SYMMETRIC(D, kD)
SYMMETRIC(C, kC)
SYMMETRIC(Z, kZ)

STAND_IN int cusolverDnXsytrs_bufferSize(Handle*, int, int64_t, int64_t, int, const void*, int64_t,
                                         const int64_t*, int, void*, int64_t, size_t* device,
                                         size_t* host) {
  return NoWorkspace(device, host);
}
STAND_IN int cusolverDnXsytrs(Handle* h, int, int64_t n, int64_t columns, int type, const void* a,
                              int64_t lda, const int64_t* pivots, int type_b, void* b, int64_t ldb,
                              void*, size_t, void*, size_t, int* info) {
  if (h == nullptr) return kNotInitialized;
  graphkit::soft::Work work("cusolverDnXsytrs", h->stream);
  work.Reads(a, BytesOf(MatrixSpan(n, n, lda), type));
  work.Reads(pivots, pivots != nullptr ? static_cast<uint64_t>(n) * 8 : 0);
  work.Updates(b, BytesOf(MatrixSpan(n, columns, ldb), type_b)).Writes(info, 4);
  return StatusOf(work);
}
}
