# graphkit: nothing
"""Tensors without bytes: they have no memory, so that nothing is to be said of them, and none may be taken for another's.

An empty batch goes through a layer, empty parts are concatenated and reduced, and an empty tensor is recorded on a side stream.
"""
import torch
from torch import nn

layer = nn.Linear(64, 64).cuda()
nothing = torch.empty(0, 64, device="cuda")
x = torch.zeros(32, 64, device="cuda")
side = torch.cuda.Stream()


def step():
    y = layer(nothing)
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        z = y * 2
    y.record_stream(side)
    torch.cuda.current_stream().wait_stream(side)
    parts = [torch.empty(0, 64, device="cuda") for _ in range(32)]
    result = layer(torch.cat([z, *parts, x]))
    return result + torch.cat(parts).sum()


with torch.inference_mode():
    step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = step()
    for _ in range(3):
        graph.replay()
torch.cuda.synchronize()
