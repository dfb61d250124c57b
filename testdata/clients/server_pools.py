# graphkit: note reuse-opportunity 9.12 MiB :27
# fixed: note reuse-opportunity 1 MiB :27
"""An inference server with a graph for each size of batch, that answers one request after another.

The fault: each graph has a private pool, though no two run at once. The twin: one pool, the largest size first. Its notes are of single graphs.
"""
import sys

import torch
from torch import nn

FIXED = sys.argv[1:] == ["fixed"]

model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 256)).cuda()
pool = torch.cuda.graph_pool_handle() if FIXED else None
warm = torch.cuda.Stream()
graphs = {}
with torch.inference_mode():
    for batch in (1024, 512, 256, 128):
        words = torch.zeros(batch, 256, device="cuda")
        warm.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(warm):
            model(words)
        torch.cuda.current_stream().wait_stream(warm)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=pool):
            result = model(words)
        graphs[batch] = graph, words, result
    for batch in (128, 1024, 256, 512, 128):
        graph, words, result = graphs[batch]
        words.copy_(torch.rand(batch, 256))
        graph.replay()
        result.cpu()
