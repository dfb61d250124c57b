# environment: GRAPHKIT_SOFT_DEVICES=2
# torchrun: 2
# not: torch-2.8
# graphkit: nothing
"""Forward and backward of attention over a sequence that two ranks share, with the load balancer of context_parallel."""
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.experimental import context_parallel
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

BATCH, HEADS, LENGTH, DIM = 2, 4, 1024, 64
WIDTH = HEADS * DIM


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, HEADS, DIM).permute(2, 0, 3, 1, 4).unbind()
        return self.out(scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(batch, length, WIDTH))


rank = int(os.environ["RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
mesh = init_device_mesh("cuda", (2,))
model = Attention().cuda().bfloat16()
x = torch.randn(BATCH, LENGTH, WIDTH, dtype=torch.bfloat16, device="cuda")


def step():
    model.zero_grad(set_to_none=True)
    model(x).float().square().mean().backward()


with sdpa_kernel(SDPBackend.FLASH_ATTENTION), context_parallel(mesh, buffers=(x,), buffer_seq_dims=(1,)):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(2):
            step()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    for _ in range(3):
        graph.replay()
    torch.cuda.synchronize()
graph.reset()
dist.destroy_process_group()
