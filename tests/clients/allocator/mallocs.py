"""Mallocs and frees alone, in a capture of one stream: what an allocator's own calls take."""

import random

import torch

MALLOCS, LIVE = 20000, 200
chance = random.Random(1)
sizes = [int(512 * 2 ** chance.uniform(0, 16)) for _ in range(MALLOCS)]
victims = [chance.randrange(LIVE) for _ in range(MALLOCS)]
malloc, free = torch._C._cuda_cudaCachingAllocator_raw_alloc, torch._C._cuda_cudaCachingAllocator_raw_delete
kept = torch.empty(256, device="cuda")
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    stream = torch.cuda.current_stream().cuda_stream
    kept.zero_()  # a graph must not be empty
    blocks = []
    for size, victim in zip(sizes, victims):
        if len(blocks) == LIVE:
            blocks[victim], blocks[-1] = blocks[-1], blocks[victim]
            free(blocks.pop())
        blocks.append(malloc(size, stream))
    for block in blocks:
        free(block)
graph.replay()
torch.cuda.synchronize()
