# graphkit: warning deferred-record-stream
"""A planted fault: activations are handed to a side stream, which joins only at the end of the capture."""
import torch
from torch import nn

layers = nn.ModuleList(nn.Linear(256, 256) for _ in range(8)).cuda()
x = torch.zeros(1024, 256, device="cuda")
side = torch.cuda.Stream()


def step():
    y = x
    for layer in layers[:-1]:
        y = layer(y)
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            y.norm()
        y.record_stream(side)
    torch.cuda.current_stream().wait_stream(side)
    y = layers[-1](y)
    return y * 2


with torch.no_grad():
    warm = torch.cuda.Stream()
    warm.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(warm):
        step()
    torch.cuda.current_stream().wait_stream(warm)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = step()
    for _ in range(3):
        graph.replay()
torch.cuda.synchronize()
