"""Graphs in several pools; every second one is destroyed. torch.cuda.empty_cache() gives segments back, and their addresses come
back for other pools: each block is joined with the graph of its time."""
import gc

import torch


def step(x, times):
    for _ in range(times):
        x = torch.relu(x @ x) + 1
    return x


x = torch.randn(512, 512, device="cuda")
kept = []
with torch.no_grad():
    step(x, 2)
    for i in range(6):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=kept[-1][0].pool() if i == 5 else None):
            output = step(x, 2 + i)
            torch.zeros(6 << 20, device="cuda")
        graph.replay()
        torch.cuda.synchronize()
        if i % 2:
            kept.append((graph, output))
        else:
            graph.reset()
        del graph, output
        gc.collect()
        torch.cuda.empty_cache()
        torch.zeros(12 << 20, device="cuda")
        torch.cuda.empty_cache()
