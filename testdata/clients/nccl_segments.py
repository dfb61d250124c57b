# graphkit: error nccl-multi-segment 128 MiB
# environment: GRAPHKIT_SOFT_DEVICES=2 PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
# torchrun: 2
"""Two ranks reduce a tensor in a graph, with expandable segments: the tensor lies in several driver allocations.

The fault: NCCL registers what it meets in a capture (`NCCL_GRAPH_REGISTER`, on by default) as if it was one allocation. graphkit
must name the tensor, in the trace of either rank. The twin: `NCCL_GRAPH_REGISTER=0`.
"""
import os
import sys

FIXED = sys.argv[1:] == ["fixed"]
os.environ["NCCL_GRAPH_REGISTER"] = "0" if FIXED else "1"

import torch
import torch.distributed as dist

rank = int(os.environ["RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
gradients = torch.zeros(32 << 20, device="cuda")
dist.all_reduce(gradients)
torch.cuda.synchronize()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    dist.all_reduce(gradients)
for _ in range(3):
    graph.replay()
torch.cuda.synchronize()
graph.reset()
dist.destroy_process_group()
