"""A program with calls of cuFFT and cuSOLVER in one capture: `math_program.py CUDA_MAJOR`. libraries_test.py knows what each
touches."""

import ctypes
import sys

from stand_ins import LL, SIZE, Device, P, check, out

MAJOR = sys.argv[1]
device = Device(MAJOR)
fft = ctypes.CDLL({"12": "libcufft.so.11", "13": "libcufft.so.12"}[MAJOR])
solver = ctypes.CDLL({"12": "libcusolver.so.11", "13": "libcusolver.so.12"}[MAJOR])
IN, OUT, A, B, INFO, PIVOTS, U, V = (device.memory() for _ in range(8))
C2C, R2C, C2R = 0x29, 0x2A, 0x2C
plans = [ctypes.c_int() for _ in range(3)]
check(fft.cufftCreate(ctypes.byref(plans[0])))
work = SIZE(1)
check(fft.cufftMakePlan1d(plans[0], 8, R2C, 3, ctypes.byref(work)))
assert work.value == 0
check(fft.cufftPlan2d(ctypes.byref(plans[1]), 4, 6, C2R))
check(fft.cufftCreate(ctypes.byref(plans[2])))
work = SIZE(1)
# 4 x 6 of complex doubles in rows of 10 every second element; out in rows of 7; two of them
check(fft.cufftXtMakePlanMany(
    plans[2], 2, (LL * 2)(4, 6), (LL * 2)(4, 10), LL(2), LL(100), 5, (LL * 2)(4, 7), LL(1), LL(50), 5, LL(2),
    ctypes.byref(work), 5))
again, version = ctypes.c_int(), ctypes.c_int()
check(fft.cufftCreate(ctypes.byref(again)))
check(fft.cufftMakePlanMany64(again, 1, (LL * 1)(8), None, LL(1), LL(0), None, LL(1), LL(0), R2C, LL(3), ctypes.byref(work)))
assert fft.cufftMakePlanMany64(again, 1, (LL * 1)(8), None, LL(1), LL(0), None, LL(1), LL(0), 0, LL(3), None) == 4
check(fft.cufftGetProperty(1, ctypes.byref(version)))
assert version.value == 2 and fft.cufftGetProperty(3, ctypes.byref(version)) == 4, "CUFFT_INVALID_VALUE"
assert work.value == 0 and fft.cufftDestroy(99) == 1, "CUFFT_INVALID_PLAN"
for plan in plans:
    check(fft.cufftSetStream(plan, device.stream))
for dimensions in (1, 2, 3):
    make, plan = (getattr(fft, f"cufft{verb}{dimensions}d") for verb in ("MakePlan", "Plan"))
    sizes, number = (4,) * dimensions, ctypes.c_int()
    batch = (1,) if dimensions == 1 else ()
    check(plan(ctypes.byref(number), *sizes, C2C, *batch))
    check(make(number, *sizes, R2C, *batch, ctypes.byref(work)))
    assert make(number, *sizes, 0, *batch, ctypes.byref(work)) == 4, "CUFFT_INVALID_VALUE"
number = ctypes.c_int()
check(solver.cusolverGetVersion(ctypes.byref(number)))
assert number.value == {"12": 11000, "13": 12000}[MAJOR], number.value
handle, parameters = out(solver.cusolverDnCreate), out(solver.cusolverDnCreateParams)
check(solver.cusolverDnSetStream(handle, device.stream))

device.capture()
check(fft.cufftExecR2C(plans[0], IN, OUT))
check(fft.cufftExecC2R(plans[1], IN, IN))
check(fft.cufftXtExec(plans[2], IN, OUT, -1))
check(solver.cusolverDnXpotrf(handle, parameters, 0, LL(6), 0, A, LL(8), 0, P(), SIZE(0), P(), SIZE(0), INFO))
check(solver.cusolverDnZgetrf(handle, 6, 4, A, 7, P(), PIVOTS, INFO))
check(solver.cusolverDnSgetrs(handle, 0, 5, 3, A, 5, PIVOTS, B, 6, INFO))
check(solver.cusolverDnDorgqr(handle, 6, 4, 3, A, 7, PIVOTS, P(), 0, INFO))
check(solver.cusolverDnCunmqr(handle, 1, 0, 6, 4, 3, A, 5, PIVOTS, B, 7, P(), 0, INFO))
# all of U (8 x 8, leading dimension 9), of V's rows the first 3 (leading dimension 4), of a complex matrix 8 x 3
check(solver.cusolverDnCgesvd(handle, 65, 83, 8, 3, A, 8, B, U, 9, V, 4, P(), 0, P(), INFO))
# two matrices 4 x 4, leading dimension 5
check(solver.cusolverDnDsyevjBatched(handle, 1, 0, 4, A, 5, B, P(), 0, INFO, P(), 2))
check(solver.cusolverDnXgeev(handle, parameters, 0, 1, LL(4), 0, A, LL(4), 4, B, 0, U, LL(4), 0, V, LL(4), 0, P(), SIZE(0), P(), SIZE(0), INFO))
assert solver.cusolverDnSgebrd(handle) == 9, "CUSOLVER_STATUS_NOT_SUPPORTED"
print("nodes", device.end())
