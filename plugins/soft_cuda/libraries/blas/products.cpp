// Products of matrices: gemm in its forms.
#include "plugins/soft_cuda/libraries/blas/handle.h"

namespace graphkit::soft::blas {
namespace {

constexpr uint64_t kPointer = 8;  // bytes of a device address
constexpr int kFloat = 0, kDouble = 1, kHalf = 2, kComplex = 4, kComplexDouble = 5;

// op(A) is m×k, op(B) k×n, C m×n; sizes, strides and leading dimensions in elements of the types.
struct Product {
  int64_t m = 0, n = 0, k = 0;
  bool transposes_a = false, transposes_b = false;
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  int type_a = 0, type_b = 0, type_c = 0;
  int64_t lead_a = 0, lead_b = 0, lead_c = 0;
  int64_t stride_a = 0, stride_b = 0, stride_c = 0;
  int64_t batch = 1;
};

bool KnowsTypes(const Product& p) {
  return ElementBits(p.type_a) != 0 && ElementBits(p.type_b) != 0 && ElementBits(p.type_c) != 0;
}

Status Multiply(const char* name, const Handle* handle, const Product& p, const void* alpha,
                const void* beta, uint64_t scalar_bytes) {
  if (handle == nullptr) return kNotInitialized;
  if (p.m < 0 || p.n < 0 || p.k < 0 || p.batch < 0) return kInvalidValue;
  if (!KnowsTypes(p)) return kNotSupported;
  if (p.m == 0 || p.n == 0 || p.batch == 0) return kSuccess;
  const uint64_t a =
      p.transposes_a ? MatrixSpan(p.k, p.m, p.lead_a) : MatrixSpan(p.m, p.k, p.lead_a);
  const uint64_t b =
      p.transposes_b ? MatrixSpan(p.n, p.k, p.lead_b) : MatrixSpan(p.k, p.n, p.lead_b);
  const uint64_t c = MatrixSpan(p.m, p.n, p.lead_c);
  Call call(name, *handle);
  call.Scalar(alpha, scalar_bytes).Scalar(beta, scalar_bytes);
  call.Reads(p.a, BytesOf(BatchSpan(a, p.stride_a, p.batch), p.type_a));
  call.Reads(p.b, BytesOf(BatchSpan(b, p.stride_b, p.batch), p.type_b));
  const uint64_t bytes_c = BytesOf(BatchSpan(c, p.stride_c, p.batch), p.type_c);
  if (IsZero(*handle, beta, scalar_bytes)) {
    call.Writes(p.c, bytes_c);
  } else {
    call.Updates(p.c, bytes_c);
  }
  return call.Workspace().Submit();
}

// The matrices are behind arrays of addresses on the device.
Status MultiplyBatched(const char* name, const Handle* handle, const void* a, const void* b,
                       const void* c, int64_t batch) {
  if (handle == nullptr) return kNotInitialized;
  if (batch < 0) return kInvalidValue;
  if (batch == 0) return kSuccess;
  const uint64_t bytes = static_cast<uint64_t>(batch) * kPointer;
  Call call(name, *handle);
  call.Addresses(a, bytes).Addresses(b, bytes).Addresses(c, bytes);
  return call.Workspace().Submit();
}

// The bytes of alpha and beta: of the computation's type, a pair of them for complex matrices.
uint64_t ScalarBytes(int compute, int type) {
  const uint64_t parts = type == kComplex || type == kComplexDouble ? 2 : 1;
  switch (compute) {
    case 64:  // CUBLAS_COMPUTE_16F
    case 65:  // … _PEDANTIC
      return 2 * parts;
    case 70:  // CUBLAS_COMPUTE_64F
    case 71:  // … _PEDANTIC
    case 79:  // … _EMULATED_FIXEDPOINT
      return 8 * parts;
    default:
      return 4 * parts;
  }
}

}  // namespace
}  // namespace graphkit::soft::blas

using namespace graphkit::soft::blas;

// Each function as it is, and with sizes of 64 bits.
#define GEMM(name, Int, type)                                                                   \
  STAND_IN int name(Handle* handle, int op_a, int op_b, Int m, Int n, Int k, const void* alpha, \
                    const void* a, Int lda, const void* b, Int ldb, const void* beta, void* c,  \
                    Int ldc) {                                                                  \
    return Multiply(#name, handle,                                                              \
                    {m, n, k, op_a != 0, op_b != 0, a, b, c, type, type, type, lda, ldb, ldc},  \
                    alpha, beta, BytesOf(1, type));                                             \
  }
#define GEMM_STRIDED(name, Int, type)                                                           \
  STAND_IN int name(Handle* handle, int op_a, int op_b, Int m, Int n, Int k, const void* alpha, \
                    const void* a, Int lda, long long stride_a, const void* b, Int ldb,         \
                    long long stride_b, const void* beta, void* c, Int ldc, long long stride_c, \
                    Int batch) {                                                                \
    return Multiply(#name, handle,                                                              \
                    {m, n, k, op_a != 0, op_b != 0, a, b, c, type, type, type, lda, ldb, ldc,   \
                     stride_a, stride_b, stride_c, batch},                                      \
                    alpha, beta, BytesOf(1, type));                                             \
  }
#define GEMM_BATCHED(name, Int)                                                               \
  STAND_IN int name(Handle* handle, int, int, Int, Int, Int, const void*, const void* a, Int, \
                    const void* b, Int, const void*, const void* c, Int, Int batch) {         \
    return MultiplyBatched(#name, handle, a, b, c, batch);                                    \
  }
#define GEMM_EX(name, Int)                                                                      \
  STAND_IN int name(Handle* handle, int op_a, int op_b, Int m, Int n, Int k, const void* alpha, \
                    const void* a, int type_a, Int lda, const void* b, int type_b, Int ldb,     \
                    const void* beta, void* c, int type_c, Int ldc, int compute, int) {         \
    return Multiply(                                                                            \
        #name, handle,                                                                          \
        {m, n, k, op_a != 0, op_b != 0, a, b, c, type_a, type_b, type_c, lda, ldb, ldc}, alpha, \
        beta, ScalarBytes(compute, type_c));                                                    \
  }
#define GEMM_STRIDED_EX(name, Int)                                                              \
  STAND_IN int name(Handle* handle, int op_a, int op_b, Int m, Int n, Int k, const void* alpha, \
                    const void* a, int type_a, Int lda, long long stride_a, const void* b,      \
                    int type_b, Int ldb, long long stride_b, const void* beta, void* c,         \
                    int type_c, Int ldc, long long stride_c, Int batch, int compute, int) {     \
    return Multiply(#name, handle,                                                              \
                    {m, n, k, op_a != 0, op_b != 0, a, b, c, type_a, type_b, type_c, lda, ldb,  \
                     ldc, stride_a, stride_b, stride_c, batch},                                 \
                    alpha, beta, ScalarBytes(compute, type_c));                                 \
  }
#define GEMM_BATCHED_EX(name, Int)                                                                 \
  STAND_IN int name(Handle* handle, int, int, Int, Int, Int, const void*, const void* a, int, Int, \
                    const void* b, int, Int, const void*, const void* c, int, Int, Int batch, int, \
                    int) {                                                                         \
    return MultiplyBatched(#name, handle, a, b, c, batch);                                         \
  }
#define GEMM_TYPED(name, Int, scalar)                                                           \
  STAND_IN int name(Handle* handle, int op_a, int op_b, Int m, Int n, Int k, const void* alpha, \
                    const void* a, int type_a, Int lda, const void* b, int type_b, Int ldb,     \
                    const void* beta, void* c, int type_c, Int ldc) {                           \
    return Multiply(                                                                            \
        #name, handle,                                                                          \
        {m, n, k, op_a != 0, op_b != 0, a, b, c, type_a, type_b, type_c, lda, ldb, ldc}, alpha, \
        beta, scalar);                                                                          \
  }

extern "C" {

GEMM(cublasSgemm_v2, int, kFloat)
GEMM(cublasSgemm_v2_64, int64_t, kFloat)
GEMM(cublasDgemm_v2, int, kDouble)
GEMM(cublasDgemm_v2_64, int64_t, kDouble)
GEMM(cublasCgemm_v2, int, kComplex)
GEMM(cublasCgemm_v2_64, int64_t, kComplex)
GEMM(cublasZgemm_v2, int, kComplexDouble)
GEMM(cublasZgemm_v2_64, int64_t, kComplexDouble)
GEMM(cublasHgemm, int, kHalf)
GEMM(cublasHgemm_64, int64_t, kHalf)
GEMM(cublasCgemm3m, int, kComplex)
GEMM(cublasZgemm3m, int, kComplexDouble)
GEMM_STRIDED(cublasSgemmStridedBatched, int, kFloat)
GEMM_STRIDED(cublasSgemmStridedBatched_64, int64_t, kFloat)
GEMM_STRIDED(cublasDgemmStridedBatched, int, kDouble)
GEMM_STRIDED(cublasDgemmStridedBatched_64, int64_t, kDouble)
GEMM_STRIDED(cublasCgemmStridedBatched, int, kComplex)
GEMM_STRIDED(cublasCgemmStridedBatched_64, int64_t, kComplex)
GEMM_STRIDED(cublasZgemmStridedBatched, int, kComplexDouble)
GEMM_STRIDED(cublasZgemmStridedBatched_64, int64_t, kComplexDouble)
GEMM_STRIDED(cublasHgemmStridedBatched, int, kHalf)
GEMM_STRIDED(cublasHgemmStridedBatched_64, int64_t, kHalf)
GEMM_BATCHED(cublasSgemmBatched, int)
GEMM_BATCHED(cublasSgemmBatched_64, int64_t)
GEMM_BATCHED(cublasDgemmBatched, int)
GEMM_BATCHED(cublasDgemmBatched_64, int64_t)
GEMM_BATCHED(cublasCgemmBatched, int)
GEMM_BATCHED(cublasCgemmBatched_64, int64_t)
GEMM_BATCHED(cublasZgemmBatched, int)
GEMM_BATCHED(cublasZgemmBatched_64, int64_t)
GEMM_BATCHED(cublasHgemmBatched, int)
GEMM_BATCHED(cublasHgemmBatched_64, int64_t)
GEMM_EX(cublasGemmEx, int)
GEMM_EX(cublasGemmEx_64, int64_t)
GEMM_STRIDED_EX(cublasGemmStridedBatchedEx, int)
GEMM_STRIDED_EX(cublasGemmStridedBatchedEx_64, int64_t)
GEMM_BATCHED_EX(cublasGemmBatchedEx, int)
GEMM_BATCHED_EX(cublasGemmBatchedEx_64, int64_t)
GEMM_TYPED(cublasSgemmEx, int, 4)
GEMM_TYPED(cublasSgemmEx_64, int64_t, 4)
GEMM_TYPED(cublasCgemmEx, int, 8)
GEMM_TYPED(cublasCgemmEx_64, int64_t, 8)
}
