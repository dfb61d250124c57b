# graphkit: warning recorded-again :28 not torch-2.8
# graphkit: warning exec-leak :13 not torch-2.8
"""A planted fault: a function compiled with mode="reduce-overhead" whose input is marked as static and is a new tensor in each step. A tree of graphs
records again for each address. The twin copies into one marked tensor."""
import sys

import torch

FIXED = sys.argv[1:] == ["fixed"]
ROWS, WIDTH = 64, 256


@torch.compile(mode="reduce-overhead")
def score(x, weight):
    return (x @ weight).relu().sum(-1)


weight = torch.ones(WIDTH, WIDTH, device="cuda")
static = torch.ones(ROWS, WIDTH, device="cuda")
torch._dynamo.mark_static_address(static)
batches = []
with torch.inference_mode():
    for _ in range(8):
        if FIXED:
            static.copy_(torch.ones(ROWS, WIDTH, device="cuda"))
            batch = static
        else:
            batch = torch.ones(ROWS, WIDTH, device="cuda")
            torch._dynamo.mark_static_address(batch)
            batches.append(batch)
        torch.compiler.cudagraph_mark_step_begin()
        score(batch, weight)
torch.cuda.synchronize()
