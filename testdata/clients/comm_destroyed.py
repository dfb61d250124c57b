# graphkit: warning comm-destroyed :25
# environment: GRAPHKIT_SOFT_DEVICES=2
# torchrun: 2
# options: --stacks
"""Two ranks reduce in a graph, and end: the process group first, then, as Python ends, the graph.

The fault: from version 2.26 on NCCL waits at the communicator's end until the graphs that use it are gone, and the job hangs after
its last line. graphkit must name the graph. The twin: it is reset before.
"""
import os
import sys

FIXED = sys.argv[1:] == ["fixed"]

import torch
import torch.distributed as dist

rank = int(os.environ["RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
gradients = torch.zeros(1 << 16, device="cuda")
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    gradients.mul_(0.5)
    dist.all_reduce(gradients)
for _ in range(3):
    graph.replay()
torch.cuda.synchronize()
if FIXED:
    graph.reset()
dist.destroy_process_group()
