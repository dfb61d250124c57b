// The forms that calls of BLAS come in: one a type of element, each also with sizes of 64 bits.
#pragma once

#include <cstdint>

#include "plugins/soft_cuda/libraries/blas/handle.h"

namespace graphkit::soft::blas {

// Bytes of an element: single, double, and complex of each.
constexpr uint64_t kS = 4, kD = 8, kC = 8, kZ = 16;

struct Vector {
  const void* at;
  int64_t n;
  int64_t stride;
};
struct Matrix {
  const void* at;
  int64_t rows, columns, leading;
};

inline uint64_t Bytes(const Vector& v, uint64_t element) {
  return VectorSpan(v.n, v.stride) * element;
}
inline uint64_t Bytes(const Matrix& a, uint64_t element) {
  return MatrixSpan(a.rows, a.columns, a.leading) * element;
}

}  // namespace graphkit::soft::blas

// MACRO(name, integer type of sizes, bytes of an element, ...) defines one function.
#define BOTH(MACRO, name, ...) MACRO(name, int, __VA_ARGS__) MACRO(name##_64, int64_t, __VA_ARGS__)
#define REAL(MACRO, name) BOTH(MACRO, cublasS##name, kS) BOTH(MACRO, cublasD##name, kD)
#define COMPLEX(MACRO, name) BOTH(MACRO, cublasC##name, kC) BOTH(MACRO, cublasZ##name, kZ)
#define ALL(MACRO, name) REAL(MACRO, name) COMPLEX(MACRO, name)
