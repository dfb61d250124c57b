import torch


@torch.compile(mode="reduce-overhead")
def f(x):
    return x.sin() + 1


@torch.compile(mode="reduce-overhead")
def g(x):
    return x.cos() * 2


for size in (8, 16, 8):
    for _ in range(3):
        torch.compiler.cudagraph_mark_step_begin()
        g(f(torch.randn(size, device="cuda")))
torch.cuda.synchronize()
