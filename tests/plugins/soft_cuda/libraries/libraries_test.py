"""The libraries that stand in for NVIDIA's: `libraries_test.py --build FOLDER`. What each call touches is worked out here,
from shapes, strides and types."""

import argparse
import ctypes
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PARSER = argparse.ArgumentParser()
PARSER.add_argument("--build", type=pathlib.Path, required=True)
BUILD = PARSER.parse_args().build.resolve()
LIBRARIES = BUILD / "lib/graphkit/soft_cuda/libraries"

A, B, C, X, Y, WORKSPACE, BIAS, POINTERS, RESULT = range(9)  # blocks, as blas_program.py allocates them
WORK = [WORKSPACE, "w", 0, 4096]
GEMM_C = (3 * 10 + 8) * 4
BLAS_NODES = [
    ("cublasSgemm_v2", [[A, "r", 0, (5 * 9 + 8) * 4], [B, "r", 0, (3 * 7 + 6) * 4], [C, "w", 0, GEMM_C], WORK], True),
    ("cublasSgemm_v2", [[A, "r", 0, (7 * 9 + 6) * 4], [B, "r", 0, (5 * 7 + 4) * 4], [C, "rw", 0, GEMM_C], WORK], True),
    ("cublasGemmStridedBatchedEx_64",
     [[A, "r", 0, (200 + 48) * 2], [B, "r", 0, (200 + 24) * 2], [C, "w", 0, (200 + 32) * 2], WORK], True),
    ("cublasSgemmBatched", [[POINTERS, "r", 0, 40], WORK], False),  # the addresses' targets aren't known
    ("cublasDgemv_v2", [[A, "r", 0, 32 * 8], [X, "r", 0, 7 * 8], [Y, "rw", 0, 22 * 8], WORK], True),
    ("cublasSaxpy_v2", [[X, "r", 0, 28 * 4], [Y, "rw", 0, 10 * 4]], True),
    ("cublasZdotc_v2", [[RESULT, "w", 0, 16], [X, "r", 0, 160], [Y, "r", 0, 19 * 16]], True),
    ("cublasCtrsm_v2", [[RESULT, "r", 0, 8], [A, "r", 0, 64 * 8], [B, "rw", 0, 32 * 8], WORK], True),
    ("cublasLtMatmul",
     [[A, "r", 0, 128 * 2], [B, "r", 0, 32 * 2], [C, "w", 0, (3 * 20 + 16) * 2], [BIAS, "r", 0, 32],
      [WORKSPACE, "w", 0, 1024]], True)]

X_, W_, Y_, SCALE, RUNNING, SAVED, WEIGHTS, RESERVE = range(8)  # those of dnn_program.py
DNN_NODES = [
    ("cudnnBackendExecute: convolution_forward, pointwise",
     [[X_, "r", 0, 512 * 2], [W_, "r", 0, 216 * 2], [Y_, "w", 0, (400 + 216) * 2]], True),
    ("cudnnBatchNormalizationForwardTrainingEx",
     [[X_, "r", 0, 2048], [SCALE, "r", 0, 16], [SCALE, "r", 64, 16], [Y_, "w", 0, 2048], [RUNNING, "rw", 0, 16],
      [RUNNING, "rw", 64, 16], [SAVED, "w", 0, 16], [SAVED, "w", 64, 16]], True),
    ("cudnnConvolutionForward", [[X_, "r", 0, 2048], [W_, "r", 0, 144 * 4], [Y_, "rw", 0, 2048]], True),
    ("cudnnRNNForward", [[X_, "r", 0, 480], [Y_, "w", 0, 960], [WEIGHTS, "r", 0, 6656], [RESERVE, "w", 0, 256]], True)]

IN, OUT, A_, B_, INFO, PIVOTS, U, V = range(8)  # those of math_program.py
MATH_NODES = [
    ("cufftExecR2C", [[IN, "r", 0, 24 * 4], [OUT, "w", 0, 15 * 8]], True),
    ("cufftExecC2R", [[IN, "rw", 0, 16 * 8]], True),
    ("cufftXtExec", [[IN, "r", 0, (100 + 35 * 2 + 1) * 16], [OUT, "w", 0, (50 + 26 + 1) * 16]], True),
    ("cusolverDnXpotrf", [[A_, "rw", 0, 46 * 4], [INFO, "w", 0, 4]], True),
    ("cusolverDnZgetrf", [[A_, "rw", 0, 27 * 16], [PIVOTS, "w", 0, 16], [INFO, "w", 0, 4]], True),
    ("cusolverDnSgetrs", [[A_, "r", 0, 100], [B_, "rw", 0, 17 * 4], [PIVOTS, "r", 0, 20], [INFO, "w", 0, 4]], True),
    ("cusolverDnDorgqr", [[A_, "rw", 0, 27 * 8], [PIVOTS, "r", 0, 24], [INFO, "w", 0, 4]], True),
    ("cusolverDnCunmqr", [[A_, "r", 0, 14 * 8], [B_, "rw", 0, 27 * 8], [PIVOTS, "r", 0, 24], [INFO, "w", 0, 4]], True),
    ("cusolverDnCgesvd",
     [[A_, "rw", 0, 24 * 8], [B_, "w", 0, 3 * 4], [U, "w", 0, (7 * 9 + 8) * 8], [V, "w", 0, (2 * 4 + 3) * 8], [INFO, "w", 0, 4]],
     True),
    ("cusolverDnDsyevjBatched", [[A_, "rw", 0, (20 + 3 * 5 + 4) * 8], [B_, "w", 0, 64], [INFO, "w", 0, 8]], True),
    ("cusolverDnXgeev", [[A_, "rw", 0, 64], [B_, "w", 0, 4 * 8], [V, "w", 0, 64], [INFO, "w", 0, 4]], True)]

OFFSETS, INDICES, VALUES, DENSE_IN, DENSE_OUT, RANDOM, PERMUTATION, BUFFER = range(8)  # those of sparse_program.py
SPARSE_NODES = [
    ("cusparseSpMV",
     [[OFFSETS, "r", 0, 7 * 8], [INDICES, "r", 0, 36], [VALUES, "r", 0, 36], [DENSE_IN, "r", 0, 20], [DENSE_OUT, "w", 0, 24]], True),
    ("cusparseSpMM",
     [[OFFSETS, "r", 0, 36], [INDICES, "r", 0, 36], [VALUES, "r", 0, 72], [DENSE_IN, "r", 0, (3 * 7 + 5) * 8],
      [DENSE_OUT, "rw", 0, (5 * 10 + 4) * 8]], True),
    ("cusparseXcoo2csr", [[INDICES, "r", 0, 36], [OFFSETS, "w", 0, 28]], True),
    ("cusparseXcoosortByRow", [[OFFSETS, "rw", 0, 36], [INDICES, "rw", 0, 36], [PERMUTATION, "rw", 0, 36]], True),
    ("cusparseSpGEMM_compute", [[OFFSETS, "r", 0, 56], [INDICES, "r", 0, 36], [VALUES, "r", 0, 36], [BUFFER, "w", 0, 512]], True),
    ("curandGenerateUniform", [[RANDOM, "w", 0, 40]], True),
    ("curandGenerateNormalDouble", [[RANDOM, "w", 0, 80]], True)]

SEND, RECEIVE = range(2)  # those of nccl_program.py; its communicators are met as 0 and, turned, 1
NCCL_NODES = [
    ("ncclAllReduce", [[SEND, "rw", 0, 200]], True, [[0, "all_reduce", 100, "bf16", -1]]),
    ("ncclAllGather", [[SEND, "r", 0, 400], [RECEIVE, "w", 0, 800]], True, [[1, "all_gather", 100, "fp32", -1]]),
    ("ncclReduceScatter", [[SEND, "r", 0, 400], [RECEIVE, "w", 0, 200]], True, [[0, "reduce_scatter", 50, "fp32", -1]]),
    ("ncclBroadcast", [[RECEIVE, "w", 0, 10]], True, [[0, "broadcast", 10, "int8", 1]]),
    ("ncclGroupEnd", [[SEND, "r", 0, 32], [RECEIVE, "w", 0, 16]], True, [[0, "send", 8, "fp32", 1], [0, "receive", 4, "fp32", 1]]),
    (None, [[RECEIVE, "w", 0, 64], [SEND, "r", 0, 64]], True)]


def calls_are_nodes(folder, words, expected, refused):
    trace = pathlib.Path(folder, "trace.json")
    done = subprocess.run(
        [BUILD / "bin/graphkit", "trace", "--device", "soft", "--no-torch", "-o", trace, "--", sys.executable,
         HERE / words[0], *words[1:]], capture_output=True, text=True, timeout=300,
        env={**os.environ, "LD_PRELOAD": os.environ.get("LD_PRELOAD", "")})
    assert done.returncode == 0 and done.stdout == f"nodes {len(expected)}\n", (done.stdout, done.stderr)
    assert f"{refused} is not modelled" in done.stderr, done.stderr
    records = json.loads(trace.read_text())["records"]
    names = {record["id"]: record["name"] for record in records if record["type"] == "kernel"}
    nodes = [record for record in records if record["type"] == "node"]
    for node, wanted in zip(nodes, expected):
        got = (names.get(node.get("kernel")), node.get("access"), node.get("complete", False))
        if "collectives" in node:
            got += (node["collectives"],)
        assert got == wanted, f"\n{got}, expected\n{wanted}"
    return records


def retain_primary_context(device):
    cuda, context = ctypes.CDLL(str(LIBRARIES.parent / "libcuda.so.1")), ctypes.c_void_p()
    assert cuda.cuInit(0) == 0 and cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device) == 0
    return context


def nvml_tells_of_the_devices(_):
    os.environ["GRAPHKIT_SOFT_DEVICES"] = "name=one,memory=8GiB;name=two,memory=16GiB,capability=8.0"
    nvml = ctypes.CDLL(str(LIBRARIES / "libnvidia-ml.so.1"))
    device, count, text = ctypes.c_void_p(), ctypes.c_uint(), ctypes.create_string_buffer(96)
    assert nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)) == 1, "before nvmlInit: NVML_ERROR_UNINITIALIZED"
    assert nvml.nvmlInit_v2() == 0
    assert nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)) == 0 and count.value == 2
    assert nvml.nvmlDeviceGetHandleByIndex_v2(2, ctypes.byref(device)) == 2, "NVML_ERROR_INVALID_ARGUMENT"
    assert nvml.nvmlDeviceGetHandleByPciBusId_v2(b"00000000:02:00.0", ctypes.byref(device)) == 0
    assert nvml.nvmlSystemGetDriverVersion(text, 96) == 0
    assert all(part.isdigit() for part in text.value.split(b".")), f"XLA reads numbers: {text.value}"
    assert nvml.nvmlDeviceGetName(device, text, 96) == 0 and text.value == b"two"
    assert nvml.nvmlDeviceGetName(device, text, 3) == 7, "NVML_ERROR_INSUFFICIENT_SIZE"
    assert nvml.nvmlDeviceGetUUID(device, text, 96) == 0
    again, index = ctypes.c_void_p(), ctypes.c_uint()
    assert nvml.nvmlDeviceGetHandleByUUID(text, ctypes.byref(again)) == 0 and again.value == device.value
    assert nvml.nvmlDeviceGetHandleByUUID(b"GPU-0", ctypes.byref(again)) == 6, "NVML_ERROR_NOT_FOUND"
    assert nvml.nvmlDeviceGetIndex(device, ctypes.byref(index)) == 0 and index.value == 1
    memory = (ctypes.c_ulonglong * 3)()
    assert nvml.nvmlDeviceGetMemoryInfo(device, memory) == 0 and list(memory) == [16 << 30, 16 << 30, 0]
    processes = (ctypes.c_ulonglong * 3)(7, 7, 7)
    assert nvml.nvmlDeviceGetComputeRunningProcesses_v3(device, ctypes.byref(count), None) == 0 and count.value == 0
    count.value = 1
    retain_primary_context(1)
    assert nvml.nvmlDeviceGetComputeRunningProcesses_v3(device, ctypes.byref(count), processes) == 0 and count.value == 1
    assert processes[0] & 0xFFFFFFFF == os.getpid() and processes[1] == 0
    count.value = 0
    assert nvml.nvmlDeviceGetComputeRunningProcesses(device, ctypes.byref(count), None) == 7 and count.value == 1
    major, minor = ctypes.c_int(), ctypes.c_int()
    assert nvml.nvmlDeviceGetCudaComputeCapability(device, ctypes.byref(major), ctypes.byref(minor)) == 0
    assert (major.value, minor.value) == (8, 0)
    # Sensors are constants.
    for sensor in (nvml.nvmlDeviceGetPowerUsage, nvml.nvmlDeviceGetEnforcedPowerLimit):
        assert sensor(device, ctypes.byref(index)) == 0 and index.value >= 100_000
    assert nvml.nvmlDeviceGetTemperature(device, 0, ctypes.byref(index)) == 0 and index.value == 35
    assert nvml.nvmlDeviceGetTemperature(device, 0, None) == 2, "NVML_ERROR_INVALID_ARGUMENT"
    assert nvml.nvmlDeviceGetMaxClockInfo(device, 1, ctypes.byref(index)) == 0 and index.value > 0
    rates, state = (ctypes.c_uint * 2)(7, 7), (ctypes.c_uint * 3)(7, 7, 7)
    assert nvml.nvmlDeviceGetUtilizationRates(device, rates) == 0 and list(rates) == [0, 0]
    assert nvml.nvmlSystemGetConfComputeState(state) == 0 and list(state) == [0, 0, 0]
    assert nvml.nvmlDeviceGetFanSpeed(device, ctypes.byref(index)) == 3, "NVML_ERROR_NOT_SUPPORTED"
    assert nvml.nvmlShutdown() == 0 and nvml.nvmlShutdown() == 1


def copies_of_cublas(_):
    """A 3 x 2 matrix in columns of 5 becomes one in columns of 4, and a vector of stride 2 one of stride 1."""
    cublas, cuda, memory = (ctypes.CDLL(str(LIBRARIES / "libcublas.so.13")), ctypes.CDLL(str(LIBRARIES.parent / "libcuda.so.1")),
                            ctypes.c_void_p())
    context = retain_primary_context(0)
    assert cuda.cuCtxSetCurrent(context) == 0 and cuda.cuMemAlloc_v2(ctypes.byref(memory), 64) == 0
    host, back = (ctypes.c_int * 10)(*range(10)), (ctypes.c_int * 8)(*[-1] * 8)
    assert cublas.cublasSetMatrix(3, 2, 4, host, 5, memory, 4) == 0
    assert cublas.cublasGetMatrix(3, 2, 4, memory, 4, back, 3) == 0
    assert list(back) == [0, 1, 2, 5, 6, 7, -1, -1]
    assert cublas.cublasSetVector(4, 4, host, 2, memory, 1) == 0 and cublas.cublasGetVector(4, 4, memory, 1, back, 2) == 0
    assert list(back) == [0, 1, 2, 5, 4, 7, 6, -1]
    assert cublas.cublasSetVectorAsync(4, 4, host, 1, memory, 1, None) == 0
    assert cublas.cublasGetVectorAsync(4, 4, memory, 1, back, 1, None) == 0 and cuda.cuCtxSynchronize() == 0
    assert list(back) == [0, 1, 2, 3, 4, 7, 6, -1]
    assert cublas.cublasSetVector(4, 0, host, 1, memory, 1) == 7, "CUBLAS_STATUS_INVALID_VALUE"
    assert cublas.cublasSetMatrix(3, -1, 4, host, 5, memory, 4) == 7, "CUBLAS_STATUS_INVALID_VALUE"


def calls_of_cublas(folder):
    for major in ("13", "12"):
        calls_are_nodes(folder, ["blas_program.py", major], BLAS_NODES, "cublasSspr_v2")


def calls_of_cudnn(folder):
    calls_are_nodes(folder, ["dnn_program.py"], DNN_NODES, "cudnnAddTensor")


def calls_of_cufft_and_cusolver(folder):
    for major in ("13", "12"):
        calls_are_nodes(folder, ["math_program.py", major], MATH_NODES, "cusolverDnSgebrd")


def calls_of_cusparse_and_curand(folder):
    for major in ("13", "12"):
        calls_are_nodes(folder, ["sparse_program.py", major], SPARSE_NODES, "cusparseScsrcolor")


def calls_of_nccl(folder):
    for major in ("13", "12"):
        records = calls_are_nodes(folder, ["nccl_program.py", major], NCCL_NODES, "ncclCommSuspend")
        told = [(record["ranks"], record["rank"]) for record in records if record["type"] == "communicator"]
        assert told == [(2, 0), (2, 1)], told


def doctor_counts_them(_):
    said = subprocess.run([BUILD / "bin/graphkit", "doctor", "--soft", "--format", "json"], capture_output=True, text=True,
                          timeout=300)
    assert said.returncode == 0, said.stderr
    counts = {library["name"]: library["count"] for library in json.loads(said.stdout)["libraries"]}
    assert {path.name for path in LIBRARIES.iterdir()} <= set(counts), counts
    assert counts["libcublas.so.13"]["functions"] == 756 and counts["libcublas.so.12"]["functions"] == 742, counts
    assert counts["libcublas.so.13"]["unchecked"] > 300, counts


TESTS = [calls_of_cublas, calls_of_cudnn, calls_of_cufft_and_cusolver, calls_of_cusparse_and_curand,
         calls_of_nccl, nvml_tells_of_the_devices, copies_of_cublas, doctor_counts_them]
for test in TESTS:
    with tempfile.TemporaryDirectory() as temporary:
        test(temporary)
