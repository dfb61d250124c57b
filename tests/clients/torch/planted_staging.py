# graphkit: note stale-host-memory :26 'what another transfer sent'
"""A planted fault: the page-locked buffer of a captured copy goes back to PyTorch's pool, and the next
batch is staged in it (as in onnxruntime#32121): later replays upload that batch."""
import sys

import torch

fixed = sys.argv[1:] == ["fixed"]
table = torch.empty(4096, device="cuda")
result = torch.empty(4096, device="cuda")
batch = torch.empty(4096, device="cuda")

staging = torch.full((4096,), 7.0).pin_memory()
torch.cuda.synchronize()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    table.copy_(staging, non_blocking=True)
    result.copy_(table.clone())
graph.replay()
torch.cuda.synchronize()
if not fixed:
    address = staging.data_ptr()
    del staging
for step in range(3):
    new = torch.full((4096,), float(step)).pin_memory()
    batch.copy_(new, non_blocking=True)
    torch.cuda.synchronize()
    graph.replay()
    torch.cuda.synchronize()
    assert fixed or new.data_ptr() == address
    del new
assert (result.cpu() == 7).all() == fixed, result
