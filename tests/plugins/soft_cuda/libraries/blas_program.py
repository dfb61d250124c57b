"""A program with calls of cuBLAS and cuBLASLt in one capture: `blas_program.py CUDA_MAJOR`. Shapes are such that each
operand has a size of its own; libraries_test.py knows them. Sizes of arguments are those of cuBLAS's documentation."""

import ctypes
import struct
import sys

from stand_ins import LL, SIZE, Device, P, check, out

MAJOR = sys.argv[1]
device = Device(MAJOR)
cublas = ctypes.CDLL(f"libcublas.so.{MAJOR}")
lt = ctypes.CDLL(f"libcublasLt.so.{MAJOR}")

ONE, ZERO = (ctypes.byref(ctypes.c_float(value)) for value in (1, 0))
A, B, C, X, Y, WORKSPACE, BIAS, POINTERS, RESULT = (device.memory() for _ in range(9))
handle = out(cublas.cublasCreate_v2)
check(cublas.cublasSetStream_v2(handle, device.stream))
check(cublas.cublasSetWorkspace_v2(handle, WORKSPACE, SIZE(4096)))
device.capture()

# C (8 x 4, leading dimension 10) = A (8 x 6, 9) B (6 x 4, 7)
check(cublas.cublasSgemm_v2(handle, 0, 0, 8, 4, 6, ONE, A, 9, B, 7, ZERO, C, 10))
# the same with A and B transposed, adding to C
check(cublas.cublasSgemm_v2(handle, 1, 1, 8, 4, 6, ONE, A, 9, B, 7, ONE, C, 10))
# three products of half-precision matrices, 100 elements apart; sizes of 64 bits
check(cublas.cublasGemmStridedBatchedEx_64(
    handle, 0, 0, LL(8), LL(4), LL(6), ONE, A, 2, LL(8), LL(100), B, 2, LL(6), LL(100), ZERO, C, 2, LL(8), LL(100), LL(3),
    68, -1))
check(cublas.cublasSgemmBatched(handle, 0, 0, 8, 4, 6, ONE, POINTERS, 8, POINTERS, 6, ZERO, POINTERS, 8, 5))
check(cublas.cublasDgemv_v2(handle, 0, 8, 4, P(), A, 8, X, 2, P(), Y, 3))
check(cublas.cublasSaxpy_v2(handle, 10, ONE, X, -3, Y, 1))
check(cublas.cublasSetPointerMode_v2(handle, 1))
check(cublas.cublasZdotc_v2(handle, 10, X, 1, Y, 2, RESULT))
check(cublas.cublasCtrsm_v2(handle, 0, 0, 0, 0, 8, 4, RESULT, A, 8, B, 8))

# cuBLASLt: D (16 x 4) = A B, with GELU and a bias of 16 elements, in bfloat16
layouts = [out(lt.cublasLtMatrixLayoutCreate, 14, LL(rows), LL(columns), LL(leading))
           for rows, columns, leading in ((16, 8, 16), (8, 4, 8), (16, 4, 20))]
operation = out(lt.cublasLtMatmulDescCreate, 68, 0)
for attribute, value in ((7, struct.pack("i", 32 | 4)), (8, struct.pack("Q", BIAS.value))):
    check(lt.cublasLtMatmulDescSetAttribute(operation, attribute, value, SIZE(len(value))))
preference = out(lt.cublasLtMatmulPreferenceCreate)
result, count = ctypes.create_string_buffer(96), ctypes.c_int()
a, b, d = layouts
check(lt.cublasLtMatmulAlgoGetHeuristic(handle, operation, a, b, d, d, preference, 1, result, ctypes.byref(count)))
assert count.value == 1
check(lt.cublasLtMatmul(handle, operation, ONE, A, a, B, b, ZERO, C, d, C, d, result, WORKSPACE, SIZE(1024), device.stream))

nodes = device.end()
assert cublas.cublasSspr_v2(handle, 0, 8, ONE, X, 1, A) == 15, "what isn't modelled returns CUBLAS_STATUS_NOT_SUPPORTED"
print("nodes", nodes)
