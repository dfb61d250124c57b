# graphkit: warning recorded-again :17
"""A planted fault: a server captures its model again for each batch, because each batch is a new tensor. The twin copies the batch into the first one's
memory and replays the first graph."""
import sys

import torch
from torch import nn

FIXED = sys.argv[1:] == ["fixed"]
BATCH, WIDTH = 64, 256

model = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.ReLU(), nn.Linear(4 * WIDTH, WIDTH)).cuda()
recorded = {}


def load_batch():
    return torch.rand(BATCH, WIDTH, device="cuda")


def capture(batch):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        model(batch)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = model(batch)
    return graph, batch, result


with torch.inference_mode():
    batches = []
    for step in range(10):
        if FIXED:
            batches = [load_batch()]
        elif step < 5:
            batches.append(load_batch())
        batch = batches[step % len(batches)]
        key = None if FIXED else batch.data_ptr()
        if key not in recorded:
            recorded[key] = capture(load_batch() if FIXED else batch)
        graph, words, result = recorded[key]
        if FIXED:
            words.copy_(batch)
        graph.replay()
torch.cuda.synchronize()
