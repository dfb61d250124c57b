# environment: GRAPHKIT_SOFT_DEVICES=2
# traces: 2
# collectives: 4
"""Two ranks with NVIDIA's own NCCL, opened past its stand-in: its NVTX ranges and its profiler interface say what its kernels do."""
import ctypes
import os
import subprocess
import sys
import tempfile

import nvidia.nccl
import torch


class UniqueId(ctypes.Structure):
    _fields_ = [("text", ctypes.c_char * 128)]


def check(status):
    assert status == 0, status


rank = int(sys.argv[1]) if len(sys.argv) > 1 else 0
folder = tempfile.TemporaryDirectory()
path = "libnccl.so.2"
if torch.cuda.nccl.version() >= (2, 28):  # an older one doesn't run on the software device
    path = os.path.join(folder.name, "libitself.so")
    os.symlink(os.path.join(list(nvidia.nccl.__path__)[0], "lib/libnccl.so.2"), path)
nccl, size, pointer = ctypes.CDLL(path), ctypes.c_size_t, ctypes.c_void_p
unique = UniqueId()
if rank == 0:
    check(nccl.ncclGetUniqueId(ctypes.byref(unique)))
    other = subprocess.Popen([sys.executable, __file__, "1", bytes(unique).hex()])
else:
    ctypes.memmove(ctypes.byref(unique), bytes.fromhex(sys.argv[2]), 128)

torch.cuda.set_device(rank)
x = torch.zeros(1024, device="cuda")
both, turned = pointer(), pointer()
check(nccl.ncclCommInitRank(ctypes.byref(both), 2, unique, rank))
check(nccl.ncclCommSplit(both, 0, -rank, ctypes.byref(turned), None))  # the ranks in the other order
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    stream, data = pointer(torch.cuda.current_stream().cuda_stream), pointer(x.data_ptr())
    check(nccl.ncclAllReduce(data, data, size(1000), 7, 0, both, stream))
    check(nccl.ncclGroupStart())
    check(nccl.ncclAllReduce(data, data, size(10), 7, 0, both, stream))
    check(nccl.ncclBroadcast(data, data, size(12), 7, 1, both, stream))
    check(nccl.ncclGroupEnd())
    check(nccl.ncclReduce(data, data, size(64), 7, 0, 1, turned, stream))
graph.replay()
graph.reset()
check(nccl.ncclCommDestroy(turned))
check(nccl.ncclCommDestroy(both))
if rank == 0:
    assert other.wait() == 0
