import torch

a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
a.record()
x = torch.randn(1 << 16, device="cuda") * 2
b.record()
b.synchronize()
assert a.elapsed_time(b) >= 0 and b.query()
