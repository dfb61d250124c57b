# graphkit: warning collection-in-capture 4 MiB :21
"""Garbage that is collected while a graph is captured.

The fault: an object that refers to itself holds a tensor, and Python collects it in the midst of the capture. graphkit must say
that a collection paused the capture, what it freed there, and name the line of the tensor.
The twin: garbage is collected before the capture, and collection is off in it.
"""
import gc
import sys

import torch
from torch import nn

FIXED = sys.argv[1:] == ["fixed"]


class Session:
    """Refers to itself: only a collection frees what it holds."""

    def __init__(self, size):
        self.me, self.cache = self, torch.empty(size, device="cuda")


layers = nn.ModuleList(nn.Linear(256, 256) for _ in range(4)).cuda()
x = torch.zeros(64, 256, device="cuda")


def step():
    y = x
    for layer in layers:
        parts = [(y[row],) for row in range(len(y))]  # objects enough for a collection
        y = layer(torch.cat([part for part, in parts]).view_as(y))
    return y


with torch.inference_mode():
    step()
    torch.cuda.synchronize()
    if FIXED:
        gc.collect()
        gc.disable()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        Session(1 << 20)
        gc.set_threshold(100)
        result = step()
    gc.enable()
    for _ in range(3):
        graph.replay()
torch.cuda.synchronize()
