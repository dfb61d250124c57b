# graphkit: warning exec-leak
"""A planted fault: each length is captured anew, and the graphs before are kept and never launched again."""
import torch
from torch import nn

model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 256)).cuda()
kept = []


def capture(length):
    words = torch.zeros(length, 256, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        model(words)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = model(words)
    kept.append(graph)
    return graph, words, result


with torch.inference_mode():
    for length in (16, 32, 48, 64):
        graph, words, result = capture(length)
        for _ in range(3):
            words.copy_(torch.rand(length, 256))
            graph.replay()
torch.cuda.synchronize()
