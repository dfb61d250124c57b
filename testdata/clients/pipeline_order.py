# graphkit: warning replay-order 1 MiB :29
"""Pipeline 1F1B (Megatron's and Transformer Engine's `_order`): a graph for the forward and one for the backward of each
microbatch, captured in the order of the schedule into one pool, so that a later graph takes memory that an earlier one gave back.

The fault: they are replayed in another schedule (all forwards, then all backwards), and a forward writes over what another one
saved for its backward. graphkit must name the memory.
The twin: replayed in the order of the captures.
"""
import sys

import torch
from torch import nn

FIXED = sys.argv[1:] == ["fixed"]
ORDER = (1, 2, -1, 3, -2, 4, -3, -4)  # microbatches: forward, and backward where negative
OTHER = (1, 2, 3, 4, -1, -2, -3, -4)

model = nn.Sequential(nn.Linear(128, 512), nn.GELU(), nn.Linear(512, 128)).cuda()
for parameter in model.parameters():
    parameter.grad = torch.zeros_like(parameter)
inputs = {number: torch.zeros(64, 128, device="cuda", requires_grad=True) for number in range(1, 5)}
upstream = torch.ones(64, 128, device="cuda")
pool = torch.cuda.graph_pool_handle()
saved, graphs = {}, {}


def run(number):
    if number > 0:
        saved[number] = model(inputs[number])
    else:
        torch.autograd.backward(saved.pop(-number), upstream, inputs=list(model.parameters()))


warm = torch.cuda.Stream()
warm.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(warm):
    for number in ORDER:
        run(number)
torch.cuda.current_stream().wait_stream(warm)
for number in ORDER:
    graphs[number] = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graphs[number], pool=pool):
        run(number)
for _ in range(2):
    for number in ORDER if FIXED else OTHER:
        if number > 0:
            inputs[number].detach().copy_(torch.rand(64, 128))
        graphs[number].replay()
torch.cuda.synchronize()
