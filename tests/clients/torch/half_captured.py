# graphkit: nothing
# options: --scope all
# coverage: 82.6%|85.2% 100.0%
# eager: optimizer
"""A training step of which only forward and backward were captured, with an NVTX range for each part.

The fault, if it is one, is no finding: the optimizer launches its kernels eagerly, every step, and nothing says so. `graphkit analyze --coverage`
must say what share of the launches runs in graphs, that all of the range `optimizer` doesn't, and which kernels these
are; `graphkit check --limit min-coverage=90%` must fail.
The twin: the optimizer is captured as well, and all of it runs in the graph.
"""
import sys

import torch
from torch import nn

FIXED = sys.argv[1:] == ["fixed"]

model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 64)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, foreach=False)
x = torch.randn(32, 64, device="cuda")


def forward_backward():
    optimizer.zero_grad(set_to_none=False)
    model(x).square().mean().backward()


def update():
    with torch.cuda.nvtx.range("optimizer"):
        optimizer.step()


warm = torch.cuda.Stream()
warm.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(warm):
    for _ in range(3):
        forward_backward()
        update()
torch.cuda.current_stream().wait_stream(warm)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    forward_backward()
    if FIXED:
        update()
for _ in range(4):
    with torch.cuda.nvtx.range("step"):
        graph.replay()
        if not FIXED:
            update()
torch.cuda.synchronize()
