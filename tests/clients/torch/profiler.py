import torch

torch.cuda.profiler.start()
x = torch.randn(8, device="cuda") * 2
torch.cuda.nvtx.range_push("work")
y = x + 1
torch.cuda.nvtx.range_pop()
torch.cuda.profiler.stop()
torch.cuda.synchronize()
