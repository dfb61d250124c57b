"""Two ranks of NCCL, a process each, with calls in one capture: `nccl_program.py CUDA_MAJOR` starts the second rank itself.
libraries_test.py knows what each call of rank 0 touches. Numbers are those of nccl.h."""

import ctypes
import os
import subprocess
import sys

from stand_ins import SIZE, Device, P, check, out


class UniqueId(ctypes.Structure):
    _fields_ = [("text", ctypes.c_char * 128)]


os.environ["GRAPHKIT_SOFT_DEVICES"] = "2"
MAJOR, RANK = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0
nccl = ctypes.CDLL("libnccl.so.2")
unique = UniqueId()
if RANK == 0:
    check(nccl.ncclGetUniqueId(ctypes.byref(unique)))
    other = subprocess.Popen([sys.executable, __file__, MAJOR, "1", unique.text.decode()], env={**os.environ, "CUDA_INJECTION64_PATH": ""})
else:
    unique.text = sys.argv[3].encode()
device = Device(MAJOR)
SEND, RECEIVE = device.memory(), device.memory()
INT8, FLOAT, BF16, SUM = 0, 7, 9, 0
both = out(nccl.ncclCommInitRank, 2, unique, RANK)
count, rank = ctypes.c_int(), ctypes.c_int()
check(nccl.ncclCommCount(both, ctypes.byref(count)))
check(nccl.ncclCommUserRank(both, ctypes.byref(rank)))
assert (count.value, rank.value) == (2, RANK)
turned, alone = P(), P()
check(nccl.ncclCommSplit(both, 0, -RANK, ctypes.byref(turned), P()))  # the ranks in the other order
check(nccl.ncclCommSplit(both, RANK, 0, ctypes.byref(alone), P()))
check(nccl.ncclCommUserRank(turned, ctypes.byref(rank)))
assert rank.value == 1 - RANK

# both devices of this process: a group, as none may wait for the other in one thread
mine, parts = (P * 2)(), (P * 2)()
check(nccl.ncclCommInitAll(mine, 2, P()))
check(nccl.ncclGroupStart())
for i in range(2):
    check(nccl.ncclCommSplit(P(mine[i]), -1 if i == 0 else 5, 0, ctypes.byref(parts, i * 8), P()))
check(nccl.ncclGroupEnd())
check(nccl.ncclCommCuDevice(P(mine[1]), ctypes.byref(rank)))
check(nccl.ncclCommCount(P(parts[1]), ctypes.byref(count)))
assert (rank.value, count.value, parts[0]) == (1, 1, None)

device.capture()
check(nccl.ncclAllReduce(SEND, SEND, SIZE(100), BF16, SUM, both, device.stream))
check(nccl.ncclAllGather(SEND, RECEIVE, SIZE(100), FLOAT, turned, device.stream))
check(nccl.ncclReduceScatter(SEND, RECEIVE, SIZE(50), FLOAT, SUM, both, device.stream))
check(nccl.ncclBroadcast(SEND, RECEIVE, SIZE(10), INT8, 1, both, device.stream))
check(nccl.ncclGroupStart())
check(nccl.ncclSend(SEND, SIZE(8), FLOAT, 1 - RANK, both, device.stream))
check(nccl.ncclRecv(RECEIVE, SIZE(4), FLOAT, 1 - RANK, both, device.stream))
check(nccl.ncclGroupEnd())
check(nccl.ncclAllReduce(SEND, RECEIVE, SIZE(16), FLOAT, SUM, alone, device.stream))  # a copy
check(nccl.ncclAllReduce(SEND, SEND, SIZE(0), FLOAT, SUM, both, device.stream))  # nothing
assert nccl.ncclBroadcast(SEND, RECEIVE, SIZE(10), INT8, 2, both, device.stream) == 4, "ncclInvalidArgument: no rank 2"
assert nccl.ncclCommSuspend(both, 1) == 5, "ncclInvalidUsage"
nodes = device.end()
for communicator in (alone, turned, both):
    check(nccl.ncclCommDestroy(communicator))
if RANK == 0:
    assert other.wait() == 0
    print("nodes", nodes)
