# graphkit: error eager-use-of-graph-memory 2 MiB :38
# not: torch-2.8
"""Speculative decoding that rolls back: a backup of the state is taken before each replay, and put back after it.

The fault: the backup is allocated after the capture in the graph's own pool, where the capture's intermediate tensor was, and the
replay writes over it. graphkit must name it. The twin: the backup is allocated outside of the pool.
"""
import sys

import torch

FIXED = sys.argv[1:] == ["fixed"]
WIDTH, ROWS = 512, 1024

state = torch.randn(ROWS, WIDTH, device="cuda")
weight = torch.randn(WIDTH, WIDTH, device="cuda")
pool = torch.cuda.MemPool()
stream = torch.cuda.Stream()


def step():
    hidden = torch.mm(state, weight)
    result = hidden.sum()
    del hidden
    return result


with torch.inference_mode(), torch.cuda.stream(stream):
    step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, pool=pool.id, stream=stream):
        result = step()
    if FIXED:
        backup = torch.empty_like(state)
    else:
        with torch.cuda.use_mem_pool(pool):
            backup = torch.empty_like(state)
    for _ in range(3):
        backup.copy_(state)
        graph.replay()
        state.copy_(backup)
torch.cuda.synchronize()
