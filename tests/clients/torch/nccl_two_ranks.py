# environment: GRAPHKIT_SOFT_DEVICES=2
# torchrun: 2
"""Two ranks, as torchrun starts them: the collectives that PyTorch makes of NCCL's, and some of them in a capture."""
import os
import sys

import torch
import torch.distributed as dist

rank = int(os.environ["RANK"])
device = torch.device("cuda", rank)
torch.cuda.set_device(device)
dist.init_process_group("nccl", device_id=device)
x = torch.ones(1024, device=device, dtype=torch.bfloat16)
both = torch.empty(2048, device=device, dtype=torch.bfloat16)
half = torch.empty(512, device=device, dtype=torch.bfloat16)

dist.all_reduce(x)
dist.broadcast(x, 0)
dist.reduce(x, 1)
dist.all_gather_into_tensor(both, x)
dist.reduce_scatter_tensor(half, x)
dist.all_to_all_single(x.clone(), x)
dist.barrier()
if rank == 0:
    dist.send(x, 1)
else:
    dist.recv(x, 0)
pair = [dist.P2POp(dist.isend, x, 1 - rank), dist.P2POp(dist.irecv, torch.empty_like(x), 1 - rank)]
for work in dist.batch_isend_irecv(pair):
    work.wait()
alone = dist.new_group([rank], use_local_synchronization=True)
other = dist.new_group([0, 1])
torch.cuda.synchronize()

graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    dist.all_reduce(x)
    dist.all_gather_into_tensor(both, x, group=other)
    dist.reduce_scatter_tensor(half, x)
    dist.all_reduce(x, group=alone)
    dist.batch_isend_irecv(pair)[0].wait()
graph.replay()
torch.cuda.synchronize()
assert (dist.get_rank(other), dist.get_world_size(other), dist.get_world_size(alone)) == (rank, 2, 1)
graph.reset()
dist.destroy_process_group()
