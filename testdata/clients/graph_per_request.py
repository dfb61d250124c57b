# graphkit: warning launched-once
"""A server that captures a graph for each request, launches it, and drops it.

The fault: every request pays for a capture and an instantiation, and launches the result once. graphkit must name it.
The twin: one graph, into whose input each request is copied.
"""
import sys

import torch
from torch import nn

FIXED = sys.argv[1:] == ["fixed"]

model = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 64)).cuda()
requests = [torch.randn(8, 64, device="cuda") for _ in range(12)]
static = torch.empty(8, 64, device="cuda")


def capture(x):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = model(x)
    return graph, y


with torch.inference_mode():
    model(static)
    torch.cuda.synchronize()
    kept = capture(static)
    for x in requests:
        if FIXED:
            static.copy_(x)
            kept[0].replay()
            y = kept[1].clone()
        else:
            graph, result = capture(x)
            graph.replay()
            y = result.clone()
            del graph, result
torch.cuda.synchronize()
