# Kernels don't run: what they would have written reads as 0, not as what lay there before.
import torch

if "soft device" not in torch.cuda.get_device_name():
    raise SystemExit(0)
uploaded = torch.arange(1, 4097, dtype=torch.int64)
for _ in range(3):
    del_me = uploaded.cuda()  # stale bytes, in the blocks that follow
    del del_me
x = uploaded.cuda()
assert torch.equal(x.cpu(), uploaded)
y = x * 2
assert torch.equal(x.cpu(), uploaded) and not y.cpu().any()
assert x[3].item() == 4 and x[10:20].tolist() == list(range(11, 21))
assert x.nonzero().numel() == 0
assert x.unique().numel() <= x.numel()
assert (x > 5).sum().item() == 0
assert x.max().item() == 0 and x.float().mean().item() == 0
str(y), str(x), repr(x.float())
index = torch.randperm(4096, device="cuda")
assert not index.cpu().any()
x[index].cpu()
values, order = torch.sort(x)
assert not order.cpu().any()
g = torch.cuda.CUDAGraph()
torch.cuda.synchronize()
with torch.cuda.graph(g):
    z = x + 1
g.replay()
assert not z.cpu().any() and torch.equal(x.cpu(), uploaded)
z.copy_(uploaded)
assert torch.equal(z.cpu(), uploaded)
g.replay()
assert not z.cpu().any()
