// Conversions and sorts, sums of two matrices, and what PyTorch calls with blocks: the calls of
// before the generic interface, with 32-bit indices.
#include <cstring>
#include <new>

#include "plugins/soft_cuda/libraries/sparse/matrix.h"

namespace graphkit::soft::sparse {
namespace {

constexpr uint64_t kInt = 4;  // bytes of an index
constexpr uint64_t kS = 4, kD = 8, kC = 8, kZ = 16;

uint64_t Ints(int64_t count) { return count > 0 ? static_cast<uint64_t>(count) * kInt : 0; }

// A matrix in rows with 32-bit indices; `entry` bytes of an entry.
struct Rows {
  int rows, entries;
  const void* values;
  const int* offsets;
  const int* indices;
};

void Read(Work& work, const Rows& a, uint64_t entry) {
  work.Reads(a.offsets, Ints(int64_t{a.rows} + 1)).Reads(a.indices, Ints(a.entries));
  work.Reads(a.values, static_cast<uint64_t>(a.entries) * entry);
}

int Sort(const char* name, const Handle* handle, int rows, int entries, const int* offsets,
         int* row_indices, int* indices, int* permutation) {
  if (handle == nullptr) return kNoHandle;
  Work work(name, handle->stream);
  work.Reads(offsets, Ints(int64_t{rows} + 1)).Updates(row_indices, Ints(entries));
  work.Updates(indices, Ints(entries)).Updates(permutation, Ints(entries));
  return work.Launch() == CUDA_SUCCESS ? kDone : kFailed;
}

// C = alpha A + beta B; how many entries C has isn't known, so that of them nothing is said.
int Sum(const char* name, const Handle* handle, uint64_t element, const Rows& a, const Rows& b,
        int* offsets) {
  if (handle == nullptr) return kNoHandle;
  Work work(name, handle->stream);
  Read(work, a, element);
  Read(work, b, element);
  work.Writes(offsets, Ints(int64_t{a.rows} + 1));
  return work.Launch() == CUDA_SUCCESS ? kDone : kFailed;
}

// A product with a matrix of blocks, or a solution: reads A and x, and y is what it says.
int Blocks(const char* name, const Handle* handle, const Rows& a, uint64_t entry, const void* x,
           uint64_t x_bytes, const void* y, uint64_t y_bytes, bool updates) {
  if (handle == nullptr) return kNoHandle;
  Work work(name, handle->stream);
  Read(work, a, entry);
  work.Reads(x, x_bytes);
  work.Uses(y, y_bytes, updates ? GRAPHKIT_SOFT_UPDATES : GRAPHKIT_SOFT_WRITES);
  return work.Launch() == CUDA_SUCCESS ? kDone : kFailed;
}

uint64_t Square(int block, uint64_t element) {
  return static_cast<uint64_t>(block) * static_cast<uint64_t>(block) * element;
}
uint64_t Vector(int64_t blocks, int block, uint64_t element) {
  return static_cast<uint64_t>(blocks * block) * element;
}
uint64_t Columns(int64_t rows, int64_t columns, int leading, uint64_t element) {
  return blas::MatrixSpan(rows, columns, leading) * element;
}

struct Description;
struct Info {};

int MakeInfo(Info** out) {
  if (out == nullptr) return kBadValue;
  *out = new (std::nothrow) Info;
  return *out != nullptr ? kDone : 2;
}

int NoBuffer(int* bytes) { return *bytes = 0, kDone; }

}  // namespace
}  // namespace graphkit::soft::sparse

using namespace graphkit::soft::sparse;

extern "C" {

STAND_IN int cusparseXcoo2csr(Handle* h, const int* row_indices, int entries, int rows,
                              int* offsets, int) {
  if (h == nullptr) return kNoHandle;
  graphkit::soft::Work work("cusparseXcoo2csr", h->stream);
  work.Reads(row_indices, Ints(entries)).Writes(offsets, Ints(int64_t{rows} + 1));
  return work.Launch() == CUDA_SUCCESS ? kDone : kFailed;
}
STAND_IN int cusparseXcsr2coo(Handle* h, const int* offsets, int entries, int rows,
                              int* row_indices, int) {
  if (h == nullptr) return kNoHandle;
  graphkit::soft::Work work("cusparseXcsr2coo", h->stream);
  work.Reads(offsets, Ints(int64_t{rows} + 1)).Writes(row_indices, Ints(entries));
  return work.Launch() == CUDA_SUCCESS ? kDone : kFailed;
}
STAND_IN int cusparseCreateIdentityPermutation(Handle* h, int n, int* permutation) {
  if (h == nullptr) return kNoHandle;
  graphkit::soft::Work work("cusparseCreateIdentityPermutation", h->stream);
  return work.Writes(permutation, Ints(n)).Launch() == CUDA_SUCCESS ? kDone : kFailed;
}
STAND_IN int cusparseXcoosort_bufferSizeExt(Handle*, int, int, int, const int*, const int*,
                                            size_t* bytes) {
  return graphkit::soft::sparse::NoBuffer(bytes);
}
STAND_IN int cusparseXcoosortByRow(Handle* h, int, int, int entries, int* row_indices, int* indices,
                                   int* permutation, void*) {
  return Sort("cusparseXcoosortByRow", h, 0, entries, nullptr, row_indices, indices, permutation);
}
STAND_IN int cusparseXcoosortByColumn(Handle* h, int, int, int entries, int* row_indices,
                                      int* indices, int* permutation, void*) {
  return Sort("cusparseXcoosortByColumn", h, 0, entries, nullptr, row_indices, indices,
              permutation);
}
STAND_IN int cusparseXcsrsort_bufferSizeExt(Handle*, int, int, int, const int*, const int*,
                                            size_t* bytes) {
  return graphkit::soft::sparse::NoBuffer(bytes);
}
STAND_IN int cusparseXcsrsort(Handle* h, int rows, int, int entries, Description*,
                              const int* offsets, int* indices, int* permutation, void*) {
  return Sort("cusparseXcsrsort", h, rows, entries, offsets, nullptr, indices, permutation);
}

// The sum's number of entries goes to the host: 0, as no arithmetic is done.
STAND_IN int cusparseXcsrgeam2Nnz(Handle* h, int rows, int, Description*, int entries_a,
                                  const int* offsets_a, const int* indices_a, Description*,
                                  int entries_b, const int* offsets_b, const int* indices_b,
                                  Description*, int* offsets, int* entries, void*) {
  if (h == nullptr) return kNoHandle;
  if (!h->device_scalars() && entries != nullptr) *entries = 0;
  return Sum("cusparseXcsrgeam2Nnz", h, 0, {rows, entries_a, nullptr, offsets_a, indices_a},
             {rows, entries_b, nullptr, offsets_b, indices_b}, offsets);
}

#define GEAM(Letter, e)                                                                         \
  STAND_IN int cusparse##Letter##csrgeam2_bufferSizeExt(                                        \
      Handle*, int, int, const void*, Description*, int, const void*, const int*, const int*,   \
      const void*, Description*, int, const void*, const int*, const int*, Description*,        \
      const void*, const int*, const int*, size_t* bytes) {                                     \
    return graphkit::soft::sparse::NoBuffer(bytes);                                             \
  }                                                                                             \
  STAND_IN int cusparse##Letter##csrgeam2(                                                      \
      Handle* h, int rows, int, const void*, Description*, int entries_a, const void* values_a, \
      const int* offsets_a, const int* indices_a, const void*, Description*, int entries_b,     \
      const void* values_b, const int* offsets_b, const int* indices_b, Description*, void*,    \
      int* offsets, int*, void*) {                                                              \
    return Sum("cusparse" #Letter "csrgeam2", h, e,                                             \
               {rows, entries_a, values_a, offsets_a, indices_a},                               \
               {rows, entries_b, values_b, offsets_b, indices_b}, offsets);                     \
  }
#define BSR(Letter, e)                                                                             \
  STAND_IN int cusparse##Letter##bsrmv(Handle* h, int, int, int rows, int columns, int entries,    \
                                       const void*, Description*, const void* values,              \
                                       const int* offsets, const int* indices, int block,          \
                                       const void* x, const void*, void* y) {                      \
    return Blocks("cusparse" #Letter "bsrmv", h, {rows, entries, values, offsets, indices},        \
                  Square(block, e), x, Vector(columns, block, e), y, Vector(rows, block, e),       \
                  true);                                                                           \
  }                                                                                                \
  STAND_IN int cusparse##Letter##bsrmm(Handle* h, int, int, int, int rows, int n, int columns,     \
                                       int entries, const void*, Description*, const void* values, \
                                       const int* offsets, const int* indices, int block,          \
                                       const void* b, int ldb, const void*, void* c, int ldc) {    \
    return Blocks("cusparse" #Letter "bsrmm", h, {rows, entries, values, offsets, indices},        \
                  Square(block, e), b, Columns(int64_t{columns} * block, n, ldb, e), c,            \
                  Columns(int64_t{rows} * block, n, ldc, e), true);                                \
  }                                                                                                \
  STAND_IN int cusparse##Letter##bsrsv2_bufferSize(Handle*, int, int, int, int, Description*,      \
                                                   void*, const int*, const int*, int, Info*,      \
                                                   int* bytes) {                                   \
    return NoBuffer(bytes);                                                                        \
  }                                                                                                \
  STAND_IN int cusparse##Letter##bsrsv2_analysis(                                                  \
      Handle* h, int, int, int rows, int entries, Description*, const void* values,                \
      const int* offsets, const int* indices, int block, Info*, int, void*) {                      \
    return Blocks("cusparse" #Letter "bsrsv2_analysis", h,                                         \
                  {rows, entries, values, offsets, indices}, Square(block, e), nullptr, 0,         \
                  nullptr, 0, false);                                                              \
  }                                                                                                \
  STAND_IN int cusparse##Letter##bsrsv2_solve(Handle* h, int, int, int rows, int entries,          \
                                              const void*, Description*, const void* values,       \
                                              const int* offsets, const int* indices, int block,   \
                                              Info*, const void* f, void* x, int, void*) {         \
    return Blocks("cusparse" #Letter "bsrsv2_solve", h, {rows, entries, values, offsets, indices}, \
                  Square(block, e), f, Vector(rows, block, e), x, Vector(rows, block, e), false);  \
  }                                                                                                \
  STAND_IN int cusparse##Letter##bsrsm2_bufferSize(Handle*, int, int, int, int, int, int,          \
                                                   Description*, void*, const int*, const int*,    \
                                                   int, Info*, int* bytes) {                       \
    return NoBuffer(bytes);                                                                        \
  }                                                                                                \
  STAND_IN int cusparse##Letter##bsrsm2_analysis(                                                  \
      Handle* h, int, int, int, int rows, int, int entries, Description*, const void* values,      \
      const int* offsets, const int* indices, int block, Info*, int, void*) {                      \
    return Blocks("cusparse" #Letter "bsrsm2_analysis", h,                                         \
                  {rows, entries, values, offsets, indices}, Square(block, e), nullptr, 0,         \
                  nullptr, 0, false);                                                              \
  }                                                                                                \
  STAND_IN int cusparse##Letter##bsrsm2_solve(                                                     \
      Handle* h, int, int, int, int rows, int n, int entries, const void*, Description*,           \
      const void* values, const int* offsets, const int* indices, int block, Info*, const void* b, \
      int ldb, void* x, int ldx, int, void*) {                                                     \
    return Blocks("cusparse" #Letter "bsrsm2_solve", h, {rows, entries, values, offsets, indices}, \
                  Square(block, e), b, Columns(int64_t{rows} * block, n, ldb, e), x,               \
                  Columns(int64_t{rows} * block, n, ldx, e), false);                               \
  }
#define EACH(Letter, e) GEAM(Letter, e) BSR(Letter, e)
EACH(S, kS)
EACH(D, kD)
EACH(C, kC)
EACH(Z, kZ)

#define INFO(kind)                                                                   \
  STAND_IN int cusparseCreateBsr##kind##2Info(Info * *out) { return MakeInfo(out); } \
  STAND_IN int cusparseDestroyBsr##kind##2Info(Info * info) { return delete info, kDone; }
INFO(sv)
INFO(sm)
// No pivot is 0.
STAND_IN int cusparseXbsrsv2_zeroPivot(Handle*, Info*, int* position) {
  return *position = -1, kDone;
}
STAND_IN int cusparseXbsrsm2_zeroPivot(Handle*, Info*, int* position) {
  return *position = -1, kDone;
}
}
