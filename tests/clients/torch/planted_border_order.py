# graphkit: error border-order :27
# graphkit: error border-order :33
"""A planted fault: the graph is replayed on a stream of its own, which waits neither for the copy of the
next batch nor for that of the last result."""
import sys

import torch
from torch import nn

fixed = sys.argv[1:] == ["fixed"]
model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 256)).cuda()
side = torch.cuda.Stream()

with torch.inference_mode():
    batch = torch.rand(64, 256, device="cuda")
    torch.cuda.synchronize()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        model(batch)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side):
        result = model(batch)


def step(new):
    batch.copy_(new)
    if fixed:
        side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        graph.replay()
    torch.cuda.current_stream().wait_stream(side)
    return result.clone()


with torch.inference_mode():
    for _ in range(3):
        step(torch.rand(64, 256, device="cuda"))
torch.cuda.synchronize()
