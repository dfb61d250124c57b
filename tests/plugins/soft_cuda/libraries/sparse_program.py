"""A program with calls of cuSPARSE and cuRAND in one capture: `sparse_program.py CUDA_MAJOR`. libraries_test.py knows what
each touches. Numbers are those of cusparse.h and of cuRAND's documentation."""

import ctypes
import sys

from stand_ins import LL, SIZE, Device, P, check, out

device = Device(sys.argv[1])
sparse, random = ctypes.CDLL("libcusparse.so.12"), ctypes.CDLL("libcurand.so.10")
OFFSETS, INDICES, VALUES, X, Y, RANDOM, PERMUTATION, BUFFER = (device.memory() for _ in range(8))
ONE, ZERO = (ctypes.byref(ctypes.c_float(value)) for value in (1, 0))
INT, LONG, FLOAT, DOUBLE = 2, 3, 0, 1
handle = out(sparse.cusparseCreate)
check(sparse.cusparseSetStream(handle, device.stream))
# 6 x 5 with 9 entries: offsets of 64 bits, indices of 32
csr = out(sparse.cusparseCreateCsr, LL(6), LL(5), LL(9), OFFSETS, INDICES, VALUES, LONG, INT, 0, FLOAT)
coo = out(sparse.cusparseCreateCoo, LL(6), LL(5), LL(9), OFFSETS, INDICES, VALUES, INT, 0, DOUBLE)
x, y = (out(sparse.cusparseCreateDnVec, LL(n), at, FLOAT) for n, at in ((5, X), (6, Y)))
# 5 x 4 by columns, 7 apart; 6 x 4 by rows, 10 apart
b = out(sparse.cusparseCreateDnMat, LL(5), LL(4), LL(7), X, DOUBLE, 1)
c = out(sparse.cusparseCreateDnMat, LL(6), LL(4), LL(10), Y, DOUBLE, 2)
number = ctypes.c_int()
for part, value in enumerate((12, 7, 0)):
    check(sparse.cusparseGetProperty(part, ctypes.byref(number)))
    assert number.value == value, (part, number.value)
assert sparse.cusparseGetProperty(3, ctypes.byref(number)) == 3, "CUSPARSE_STATUS_INVALID_VALUE"
size = SIZE(1)
check(sparse.cusparseSpMV_bufferSize(handle, 0, ONE, csr, x, ZERO, y, FLOAT, 0, ctypes.byref(size)))
assert size.value == 0
generator = P()
assert random.curandCreateGenerator(ctypes.byref(generator), 7) == 103, "CURAND_STATUS_TYPE_ERROR"
check(random.curandCreateGenerator(ctypes.byref(generator), 100))
check(random.curandSetPseudoRandomGeneratorSeed(generator, LL(7)))
check(random.curandSetStream(generator, device.stream))

device.capture()
check(sparse.cusparseSpMV(handle, 0, ONE, csr, x, ZERO, y, FLOAT, 0, P()))
one = ctypes.byref(ctypes.c_double(1))
check(sparse.cusparseSpMM(handle, 0, 0, one, coo, b, one, c, DOUBLE, 0, P()))
check(sparse.cusparseXcoo2csr(handle, INDICES, 9, 6, OFFSETS, 0))
check(sparse.cusparseXcoosortByRow(handle, 6, 5, 9, OFFSETS, INDICES, PERMUTATION, P()))
progress = out(sparse.cusparseSpGEMM_createDescr)
check(sparse.cusparseSpGEMM_compute(handle, 0, 0, ONE, csr, csr, ZERO, csr, FLOAT, 0, progress, ctypes.byref(size), P()))
assert size.value == 512, "a question, and no node"
check(sparse.cusparseSpGEMM_compute(handle, 0, 0, ONE, csr, csr, ZERO, csr, FLOAT, 0, progress, ctypes.byref(size), BUFFER))
check(random.curandGenerateUniform(generator, RANDOM, SIZE(10)))
check(random.curandGenerateNormalDouble(generator, RANDOM, SIZE(10), ctypes.c_double(0), ctypes.c_double(1)))
assert random.curandGenerateNormal(generator, RANDOM, SIZE(9), ctypes.c_float(0), ctypes.c_float(1)) == 105, "pairs"
assert sparse.cusparseScsrcolor(handle) == 10, "CUSPARSE_STATUS_NOT_SUPPORTED"
assert ctypes.CDLL("libcusparseLt.so.0").cusparseLtInit(P()) == 10, "CUSPARSE_STATUS_NOT_SUPPORTED"
print("nodes", device.end())
