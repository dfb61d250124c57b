import torch

pool = torch.cuda.MemPool()
with torch.cuda.use_mem_pool(pool):
    x = torch.zeros(1 << 20, device="cuda")
y = torch.zeros(1 << 20, device="cuda")
assert x.sum().item() == 0
del x, pool
torch.cuda.empty_cache()
