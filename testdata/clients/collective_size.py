# environment: GRAPHKIT_SOFT_DEVICES=2
# torchrun: 2
# options: --stacks
# ranks: error collective-size :31
"""Two ranks serve a batch each from graphs that were captured for several sizes, and gather the results of both.

The fault: each rank replays the graph of its own batch, and the two gather another number of elements: NCCL reads and writes past
what the other rank gives it, or waits for ever. graphkit must name the operation. The twin: the ranks agree on the larger one.
"""
import os
import sys

FIXED = sys.argv[1:] == ["fixed"]

import torch
import torch.distributed as dist

rank = int(os.environ["RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
SIZES = (4, 8)
requests = 8 if rank == 0 else 3
inputs = torch.zeros(8, 256, device="cuda")
outputs = torch.zeros(16, 256, device="cuda")
graphs = {}
for size in SIZES:
    graphs[size] = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graphs[size]):
        hidden = inputs[:size].relu()
        # every rank's rows behind one another
        dist.all_gather_into_tensor(outputs[: 2 * size], hidden)

size = 8 if FIXED else next(size for size in SIZES if size >= requests)
graphs[size].replay()
torch.cuda.synchronize()
for graph in graphs.values():
    graph.reset()
dist.destroy_process_group()
