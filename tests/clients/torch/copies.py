import torch

x = torch.arange(1 << 16, dtype=torch.int32)
y = x.pin_memory().cuda(non_blocking=True)
z = torch.empty_like(y).copy_(y)
torch.cuda.synchronize()
assert torch.equal(z.cpu(), x) and z[7].item() == 7
view = x.view(256, 256)[3:9, 5:50]
assert torch.equal(view.cuda().cpu(), view)
