# graphkit: error static-address-changed 1.00 MiB :20
"""Gradients kept in a bucket outside of the graph, as DDP keeps them: parameters' gradients are parts of one tensor.

The fault: the bucket is made anew between two steps, where it ought to be set to zero: the graph goes on to write the old memory.
graphkit must name the bucket that the graph still writes. The twin: `zero_()`.
"""
import sys

import torch
from torch import nn

FIXED = sys.argv[1:] == ["fixed"]

model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 256)).cuda()
parameters = list(model.parameters())
x = torch.randn(64, 256, device="cuda")


def make_bucket():
    bucket = torch.zeros(sum(parameter.numel() for parameter in parameters), device="cuda")
    for parameter, part in zip(parameters, bucket.split([parameter.numel() for parameter in parameters])):
        parameter.grad = part.view_as(parameter)
    return bucket


def step():
    model(x).square().mean().backward()
    with torch.no_grad():
        torch._foreach_add_(parameters, [parameter.grad for parameter in parameters], alpha=-0.1)


bucket = make_bucket()
warm = torch.cuda.Stream()
warm.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(warm):
    step()
torch.cuda.current_stream().wait_stream(warm)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    step()
for _ in range(3):
    if FIXED:
        bucket.zero_()
    else:
        bucket = make_bucket()
    graph.replay()
torch.cuda.synchronize()
