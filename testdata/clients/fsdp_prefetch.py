# graphkit: warning deferred-record-stream 1.50 MiB :25
# graphkit: warning deferred-record-stream 512 KiB :25
"""Layers whose weights are sharded (as with FSDP): a side stream gathers the next layer's weights while one computes.

The fault: gathered weights are recorded on the stream that computes, and dropped. In a capture none of them comes back before
its end, so that the whole model's weights are there at once. graphkit must say how much is kept, and name the line that gathers.
The twin: the side stream waits for a layer before it gathers the one after the next, and its weights are dropped then.
"""
import collections
import sys

import torch
from torch import nn

FIXED = sys.argv[1:] == ["fixed"]
WIDTH, LAYERS, RANKS = 256, 8, 2

shards = [torch.randn(WIDTH * WIDTH // RANKS, device="cuda") for _ in range(LAYERS)]
x = torch.randn(64, WIDTH, device="cuda")
gathering = torch.cuda.Stream()


def gather(layer):
    with torch.cuda.stream(gathering):
        full = torch.empty(RANKS, WIDTH * WIDTH // RANKS, device="cuda")
        for part in full:
            part.copy_(shards[layer])  # these copies stand for the all-gather
        return full, gathering.record_event()


def forward():
    main = torch.cuda.current_stream()
    gathering.wait_stream(main)
    gathered, used, y = collections.deque([gather(0)]), collections.deque(), x
    for layer in range(LAYERS):
        if FIXED and len(used) == 2:
            gathering.wait_event(used.popleft()[1])
        if layer + 1 < LAYERS:
            gathered.append(gather(layer + 1))
        full, ready = gathered.popleft()
        main.wait_event(ready)
        y = nn.functional.gelu(y @ full.view(WIDTH, WIDTH))
        if FIXED:
            used.append((full, main.record_event()))
        else:
            full.record_stream(main)
        del full
    gathering.wait_stream(main)
    used.clear()
    main.wait_stream(gathering)
    return y


with torch.inference_mode():
    forward()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = forward()
    for _ in range(3):
        graph.replay()
torch.cuda.synchronize()
