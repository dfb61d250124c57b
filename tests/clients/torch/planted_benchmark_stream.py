# graphkit: warning border-order :28
"""A planted fault: Triton's do_bench_cudagraph warms up on a stream of its own, which doesn't wait for the
copy of the operand (triton#10312). Its graphs are captured and replayed after waits of the host."""
import sys

import torch
import triton
from triton import language as tl

fixed = sys.argv[1:] == ["fixed"]


@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)


x = torch.empty(4096, device="cuda")
sizes = (64, 128)


def measure(block):
    double[(4096 // block,)](x, torch.empty_like(x), 4096, BLOCK=block)


for block in sizes:
    x.copy_(torch.full((4096,), float(block), device="cuda"))
    if fixed:
        torch.cuda.current_stream().synchronize()
    triton.testing.do_bench_cudagraph(
        lambda: measure(block), rep=1)
