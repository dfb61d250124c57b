// The descriptors of cuSPARSE's generic interface, and what its calls share. Names, orders of
// arguments and numbers are those of cusparse.h 12.7 and its documentation.
#pragma once

#include "plugins/soft_cuda/libraries/blas/handle.h"

namespace graphkit::soft::sparse {

using blas::BytesOf;
using blas::Call;
using blas::Handle;

enum SparseStatus { kDone = 0, kNoHandle = 1, kBadValue = 3, kFailed = 6 };

// As CUSPARSE_VERSION counts: 12.7.0.
inline constexpr int kVersion = 12700;

// Of a cusparseIndexType_t.
inline uint64_t IndexBytes(int type) { return type == 1 ? 2 : type == 2 ? 4 : 8; }

// A matrix in rows (CSR), columns (CSC), coordinates (COO) or blocks (BSR): its entries lie as
// values, their indices, and the offsets of rows, or indices of rows of COO.
struct SparseMatrix {
  int64_t rows = 0, columns = 0, entries = 0;
  int64_t offset_count = 0;
  const void* offsets = nullptr;
  const void* indices = nullptr;
  const void* values = nullptr;
  int offset_type = 0, index_type = 0, value_type = 0;
  int64_t entry_values = 1;  // of a block
  int64_t batch = 1, offsets_stride = 0, values_stride = 0;

  uint64_t offsets_bytes() const;
  uint64_t indices_bytes() const;
  uint64_t values_bytes() const;
};

// A vector has one column.
struct DenseMatrix {
  int64_t rows = 0, columns = 1, leading = 0;
  const void* values = nullptr;
  int type = 0;
  bool by_rows = false;
  int64_t batch = 1, stride = 0;

  uint64_t bytes() const;
};

// A call on sparse matrices: what it touches of each.
class SparseCall : public Call {
 public:
  using Call::Call;
  SparseCall& ReadsMatrix(const SparseMatrix& matrix);
  SparseCall& ReadsPattern(const SparseMatrix& matrix);  // all but the values
  SparseCall& WritesMatrix(const SparseMatrix& matrix);
  // The result of alpha … + beta C: not read where beta is 0, as far as the host can see.
  SparseCall& Adds(const void* at, uint64_t bytes, const void* beta, int compute_type);
  int Done() const { return Launch() == CUDA_SUCCESS ? kDone : kFailed; }
};

// Of a call that asks how much workspace it will need: none.
inline int NoBuffer(size_t* bytes) {
  if (bytes == nullptr) return kBadValue;
  *bytes = 0;
  return kDone;
}

}  // namespace graphkit::soft::sparse
