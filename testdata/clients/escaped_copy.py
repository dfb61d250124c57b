# options: --stacks
# graphkit: error escaped-work 512 KiB :26
# graphkit: error border-order 512 KiB :26
"""A step whose cache is written by an extension, which launches on a stream of its own and never asks for the current one.

The fault: that stream isn't captured. The copy reads what the capture hasn't computed, runs once, and in no replay. graphkit
must name it. The twin: the extension's stream waits for the capture's, and the capture's for it.
"""
import sys

import torch

FIXED = sys.argv[1:] == ["fixed"]
SIZE = 256

x, key, cache, result = (torch.randn(SIZE, SIZE, device="cuda") for _ in range(4))
project, attend = (torch.randn(SIZE, SIZE, device="cuda") for _ in range(2))
extension = torch.cuda.Stream()


def step():
    torch.mm(x, project, out=key)
    if FIXED:
        extension.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(extension):
        cache.copy_(key)
    if FIXED:
        torch.cuda.current_stream().wait_stream(extension)
    torch.mm(cache, attend, out=result)


with torch.inference_mode():
    step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    for _ in range(3):
        x.copy_(torch.randn(SIZE, SIZE))
        graph.replay()
torch.cuda.synchronize()
