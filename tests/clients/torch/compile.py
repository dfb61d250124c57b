import torch


@torch.compile(mode="reduce-overhead")
def f(x, w):
    return (x @ w).relu().sum()


x, w = torch.randn(16, 16, device="cuda"), torch.randn(16, 16, device="cuda")
for _ in range(4):
    f(x, w)
torch.cuda.synchronize()
