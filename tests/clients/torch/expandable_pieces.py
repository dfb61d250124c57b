# environment: PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
# graphkit: nothing
import torch

# Blocks above the 20 MiB of a page: the segment grows by several adjacent pieces at once.
x = torch.empty(50 << 20, dtype=torch.uint8, device="cuda")
g = torch.cuda.CUDAGraph()
with torch.cuda.graph(g):
    y = torch.empty(50 << 20, dtype=torch.uint8, device="cuda").add_(1)
    z = y.clone()
g.replay()
torch.cuda.synchronize()
