# environment: PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
import torch

x = [torch.empty(3 << 20, device="cuda") for _ in range(8)]
del x[::2]
torch.cuda.empty_cache()
y = torch.randn(1 << 20, device="cuda")
g = torch.cuda.CUDAGraph()
torch.cuda.synchronize()
with torch.cuda.graph(g):
    z = y * 2
g.replay()
torch.cuda.synchronize()
