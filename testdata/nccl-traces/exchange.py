"""Two ranks capture NCCL's operations: `exchange.py LIBRARY` starts the second one itself. Planted are two faults: rank 1
broadcasts more than rank 0, and scatters where rank 0 gathers."""
import ctypes
import subprocess
import sys

LIBRARY, RANK = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0
FLOAT, SUM, RELAXED = 7, 0, 2  # of nccl.h and of CUDA's stream capture
P, SIZE = ctypes.c_void_p, ctypes.c_size_t


class UniqueId(ctypes.Structure):
    _fields_ = [("text", ctypes.c_char * 128)]


def check(status):
    assert status == 0, status


def out(call, *arguments):
    made = P()
    check(call(ctypes.byref(made), *arguments))
    return made


cuda, nccl, unique = ctypes.CDLL("libcudart.so.13"), ctypes.CDLL(LIBRARY), UniqueId()
if RANK == 0:
    check(nccl.ncclGetUniqueId(ctypes.byref(unique)))
    other = subprocess.Popen([sys.executable, __file__, LIBRARY, "1", bytes(unique).hex()])
else:
    ctypes.memmove(ctypes.byref(unique), bytes.fromhex(sys.argv[3]), 128)
check(cuda.cudaSetDevice(RANK))
both = out(nccl.ncclCommInitRank, 2, unique, RANK)
turned = P()
check(nccl.ncclCommSplit(both, 0, -RANK, ctypes.byref(turned), P()))  # the ranks in the other order
send, receive = out(cuda.cudaMalloc, SIZE(1 << 20)), out(cuda.cudaMalloc, SIZE(1 << 20))
stream = out(cuda.cudaStreamCreate)
check(cuda.cudaStreamBeginCapture(stream, RELAXED))
check(nccl.ncclAllReduce(send, receive, SIZE(1000), FLOAT, SUM, both, stream))
check(nccl.ncclGroupStart())
check(nccl.ncclAllReduce(send, receive, SIZE(10), FLOAT, SUM, both, stream))
check(nccl.ncclBroadcast(send, receive, SIZE(12 + 4 * RANK), FLOAT, 1, both, stream))
check(nccl.ncclGroupEnd())
if RANK == 0:
    check(nccl.ncclAllGather(send, receive, SIZE(64), FLOAT, turned, stream))
else:
    check(nccl.ncclReduceScatter(send, receive, SIZE(64), FLOAT, SUM, turned, stream))
graph = out(lambda made: cuda.cudaStreamEndCapture(stream, made))
exec_ = out(cuda.cudaGraphInstantiate, graph, SIZE(0))
check(cuda.cudaGraphLaunch(exec_, stream))
check(cuda.cudaStreamSynchronize(stream))
check(cuda.cudaGraphExecDestroy(exec_))
check(cuda.cudaGraphDestroy(graph))
check(cuda.cudaFree(send))
check(cuda.cudaFree(receive))
check(cuda.cudaStreamDestroy(stream))
for communicator in (turned, both):
    check(nccl.ncclCommDestroy(communicator))
if RANK == 0:
    assert other.wait() == 0
