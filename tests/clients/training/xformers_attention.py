# graphkit: nothing
"""xformers' memory-efficient attention, forward and backward in a graph."""
import torch
import xformers.ops

q = torch.randn(2, 64, 8, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True)


def step():
    out = xformers.ops.memory_efficient_attention(q, q, q, attn_bias=xformers.ops.LowerTriangularMask())
    out.sum().backward()
    return out


warm = torch.cuda.Stream()
with torch.cuda.stream(warm):
    step()
    step()
torch.cuda.current_stream().wait_stream(warm)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    out = step()
graph.replay()
torch.cuda.synchronize()
