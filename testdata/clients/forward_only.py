# graphkit: nothing
# options: --scope all
# coverage: 21.5%|18.2% 100.0%
# eager: optimizer
# kept: 6291968|39846400 512|67109376
"""A training step of which only the forward pass was captured, with gradients on; backward and optimizer run eagerly.

The fault is no finding: most launches stay eager, and the activations are kept in the graph's pool between replays, where a graph
of the whole step reuses their memory. graphkit must say what share of the launches runs in graphs, that nothing of the range
`optimizer` does, and what the graph keeps. The twin: the whole step is captured.
"""
import sys

import torch
from torch import nn

FIXED = sys.argv[1:] == ["fixed"]

model = nn.Sequential(*(layer for _ in range(6) for layer in (nn.Linear(256, 256), nn.GELU()))).cuda()
x = torch.randn(512, 256, device="cuda")


def forward():
    return model(x).square().mean()


def update():
    with torch.cuda.nvtx.range("optimizer"):
        for parameter in model.parameters():
            parameter.data.add_(parameter.grad, alpha=-0.1)  # `data`: autograd doesn't count it as a change
            parameter.grad.zero_()


warm = torch.cuda.Stream()
warm.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(warm):
    for _ in range(2):
        forward().backward()
        update()
torch.cuda.current_stream().wait_stream(warm)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    loss = forward()
    if FIXED:
        loss.backward()
        update()
for _ in range(3):
    graph.replay()
    if not FIXED:
        loss.backward(retain_graph=True)
        update()
torch.cuda.synchronize()
