# graphkit's allocator beside NCCL, as the two lines in docs/frameworks.md serve it.
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "plugins/python/cudagraphkit"))
import torch_allocator  # the file alone

torch_allocator.enable()
import torch
import torch.distributed as dist

os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29533", RANK="0", WORLD_SIZE="1")
dist.init_process_group("nccl", device_id=torch.device("cuda:0"))
x = torch.ones(1 << 20, device="cuda")
dist.all_reduce(x)
g = torch.cuda.CUDAGraph()
torch.cuda.synchronize()
with torch.cuda.graph(g):
    y = x * 2
    dist.all_reduce(y)
    del y
g.replay()
torch.cuda.synchronize()
assert torch_allocator.figures()["captures"] == 1
dist.destroy_process_group()
