import torch
import triton
from triton import language as tl


@triton.jit
def double(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)


x = torch.randn(256, device="cuda")
double[(2,)](x, 256, BLOCK=128)
torch.cuda.synchronize()
