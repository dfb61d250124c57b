# graphkit: error concurrent-collectives
# environment: GRAPHKIT_SOFT_DEVICES=2 NCCL_GRAPH_MIXING_SUPPORT=0
# torchrun: 2
"""Two ranks replay a graph for each half of a batch, on a stream each, with NCCL's support for graphs that run at once switched off.

The fault: both graphs reduce over one communicator, and nothing orders the replays: not allowed then. graphkit must name the
launches. The twin: the second stream waits for the first.
"""
import os
import sys

FIXED = sys.argv[1:] == ["fixed"]

import torch
import torch.distributed as dist

rank = int(os.environ["RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
halves = [torch.zeros(1 << 16, device="cuda") for _ in range(2)]
graphs, streams = [], [torch.cuda.Stream() for _ in range(2)]
for half in halves:
    graphs.append(torch.cuda.CUDAGraph())
    with torch.cuda.graph(graphs[-1]):
        dist.all_reduce(half)
for graph, stream in zip(graphs, streams):
    with torch.cuda.stream(stream):
        if FIXED and stream is streams[1]:
            stream.wait_stream(streams[0])
        graph.replay()
torch.cuda.synchronize()
for graph in graphs:
    graph.reset()
dist.destroy_process_group()
