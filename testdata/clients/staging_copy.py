# graphkit: note send-buffer-reuse 514.5 KiB :17
# options: --scope all
"""A checkpoint that is staged: a side stream copies the weights to pinned memory while the next step is prepared.

The fault: the next replay, which updates the weights, doesn't wait for the copies, so that the checkpoint may hold values of two
steps. graphkit must say which weights are copied and written at once, and name their line. It is a note, not an error:
a foreach kernel takes its addresses in a structure, whose words may be left over from earlier launches.
The twin: the stream of the replays waits for the copies.
"""
import sys

import torch
from torch import nn

FIXED = sys.argv[1:] == ["fixed"]

model = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 128)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(32, 128, device="cuda")
staged = {name: torch.empty_like(weight, device="cpu", pin_memory=True) for name, weight in model.state_dict().items()}
staging = torch.cuda.Stream()


def step():
    optimizer.zero_grad(set_to_none=True)
    model(x).square().mean().backward()
    optimizer.step()


def stage():
    staging.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(staging):
        for name, weight in model.state_dict().items():
            staged[name].copy_(weight, non_blocking=True)


warm = torch.cuda.Stream()
warm.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(warm):
    for _ in range(3):
        step()
torch.cuda.current_stream().wait_stream(warm)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    step()
for number in range(4):
    if FIXED:
        torch.cuda.current_stream().wait_stream(staging)
    graph.replay()
    if number == 1:
        stage()
staging.synchronize()
torch.cuda.synchronize()
