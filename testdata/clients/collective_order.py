# environment: GRAPHKIT_SOFT_DEVICES=2
# torchrun: 2
# options: --stacks
# ranks: error collective-order :33
"""Two ranks capture a step that reduces gradients and gathers parameters, in the order in which a dictionary has the two.

The fault: the dictionary was filled in another order on rank 1, so that its graph gathers first. On GPUs both ranks wait for ever
in the first replay. graphkit must name the first operation that differs, of the traces together. The twin: keys are sorted.
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
shard = torch.zeros(1 << 12, device="cuda")
parameters = torch.zeros(1 << 13, device="cuda")


def exchange(steps):
    for name in sorted(steps) if FIXED else steps:
        steps[name]()


steps = {}
for name in ("reduce", "gather") if rank == 0 else ("gather", "reduce"):
    steps[name] = (lambda: dist.all_reduce(gradients)) if name == "reduce" else lambda: dist.all_gather_into_tensor(parameters, shard)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    exchange(steps)
for _ in range(3):
    graph.replay()
torch.cuda.synchronize()
graph.reset()
dist.destroy_process_group()
