# graphkit: warning escaped-work
# graphkit: warning escaped-work
"""bitsandbytes' 8-bit AdamW in a captured step. Its kernels run on the legacy default stream, whatever stream is current: the
capture misses them. That is what both warnings are about (8-bit states, and 32-bit ones of small parameters)."""
import bitsandbytes
import torch
from bitsandbytes.optim import optimizer
from torch import nn

optimizer.sync_gpu = lambda tensor: None  # it synchronizes after each step
model = nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512)).cuda()
adam = bitsandbytes.optim.AdamW8bit(model.parameters(), lr=1e-3, min_8bit_size=1024)
x, y = torch.randn(32, 512).cuda(), torch.randn(32, 512).cuda()
for parameter in model.parameters():
    parameter.grad = torch.zeros_like(parameter)


def step():
    adam.zero_grad(set_to_none=False)
    loss = ((model(x) - y) ** 2).mean()
    loss.backward()
    adam.step()
    return loss


warm = torch.cuda.Stream()
warm.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(warm):
    for _ in range(3):
        step()
torch.cuda.current_stream().wait_stream(warm)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    loss = step()
for _ in range(3):
    graph.replay()
bitsandbytes.nn.Linear8bitLt(512, 512, has_fp16_weights=False).cuda()(x.half())
bitsandbytes.nn.Linear4bit(512, 512, compute_dtype=torch.bfloat16).cuda()(x.bfloat16())
torch.cuda.synchronize()
