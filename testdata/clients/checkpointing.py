# graphkit: nothing
"""A training step with activation checkpointing, captured as a whole: what a forward pass computes is dropped and computed
again in the backward pass, without the state of the random numbers, which PyTorch 2.8 can't read in a
capture. Nothing is to be said of it.
"""
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

layers = nn.ModuleList(nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 256)) for _ in range(4)).cuda()
x = torch.randn(512, 256, device="cuda")


def step():
    y = x
    for parameter in layers.parameters():
        parameter.grad = None
    for layer in layers:
        y = checkpoint(layer, y, use_reentrant=False, preserve_rng_state=False)
    y.square().mean().backward()


warm = torch.cuda.Stream()
warm.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(warm):
    for _ in range(2):
        step()
torch.cuda.current_stream().wait_stream(warm)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    step()
for _ in range(3):
    graph.replay()
torch.cuda.synchronize()
