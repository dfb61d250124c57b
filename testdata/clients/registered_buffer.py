# graphkit: error missing-order :37
# not: torch-2.8
# environment: GRAPHKIT_SOFT_DEVICES=2
# torchrun: 2
# options: --stacks
"""Two ranks reduce gradients in buckets, each through the same buffer, which is registered with NCCL, in a graph.

The fault: a bucket is copied into the buffer while the reduction of the bucket before may still read and write it, on NCCL's own
stream. graphkit must name the copy. The twin: it waits for the reduction. PyTorch 2.8 has no such allocator for its NCCL.
"""
import os
import sys

FIXED = sys.argv[1:] == ["fixed"]

import torch
import torch.distributed as dist

rank = int(os.environ["RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
nccl = dist.group.WORLD._get_backend(torch.device("cuda", rank))
registered = torch.cuda.MemPool(nccl.mem_allocator)
with torch.cuda.use_mem_pool(registered):
    buffer = torch.zeros(1 << 18, device="cuda")
nccl.register_mem_pool(registered)
buckets = [torch.ones_like(buffer) for _ in range(3)]


def reduce_all():
    under_way = None
    for bucket in buckets:
        if FIXED and under_way:
            under_way.wait()
            previous.copy_(buffer)
        buffer.copy_(bucket)
        under_way, previous = dist.all_reduce(buffer, async_op=True), bucket
    under_way.wait()
    previous.copy_(buffer)


graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    reduce_all()
for _ in range(3):
    graph.replay()
torch.cuda.synchronize()
graph.reset()
nccl.deregister_mem_pool(registered)
dist.destroy_process_group()
