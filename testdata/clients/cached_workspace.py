# graphkit: error pool-clobbered-workspace 2 MiB :24
"""A library that caches a workspace by its first call, and keeps a table there that later calls read.

The fault: its first call is captured. The workspace lies in the graph's pool, where an intermediate tensor was before, and each
replay writes over the table. graphkit must name it.
The twin: one call comes before the capture.
"""
import functools
import sys

import torch

FIXED = sys.argv[1:] == ["fixed"]
WIDTH, ROWS = 512, 1024

x = torch.randn(ROWS, WIDTH, device="cuda")
weight = torch.randn(WIDTH, WIDTH, device="cuda")
table = torch.randn(ROWS, WIDTH, device="cuda")
staged = torch.empty(ROWS, WIDTH, device="cuda")


@functools.cache
def workspace():
    return torch.empty(ROWS, WIDTH, device="cuda")


def step():
    hidden = torch.mm(x, weight)
    result = hidden.sum()
    del hidden
    workspace()
    return result


with torch.inference_mode():
    torch.mm(x, weight).sum()
    if FIXED:
        workspace()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = step()
    workspace().copy_(table)
    for _ in range(3):
        graph.replay()
        staged.copy_(workspace())
torch.cuda.synchronize()
