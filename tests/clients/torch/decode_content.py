# graphkit: nothing
# options: --scope all
# content: constant:15:1048576 constant:16:1048576 input:39:8192 output:27:8192
# content: constant:15:1048576 constant:16:1048576 output:27:8192
# not: torch-2.8
# 2.8 keeps the product's workspace of 32 MiB, and an unset word of a structure that it passes to indexSelectSmallIndex is an
# address in `up`, so that its content isn't known to stay.
# A decoding step with weights, a table and a KV cache. Tokens are copied before each replay; `fixed`: before the
# first one, so that they may as well be a constant, or what the kernel that has their address writes.
import sys

import torch

WIDTH, LENGTH, BATCH = 256, 64, 8
FIXED = sys.argv[1:] == ["fixed"]

torch.manual_seed(0)
up = torch.randn(WIDTH, 4 * WIDTH).to("cuda")
down = torch.randn(4 * WIDTH, WIDTH).to("cuda")
places = torch.randn(LENGTH, WIDTH).to("cuda")
cache = torch.zeros(BATCH, LENGTH, WIDTH, device="cuda")
tokens = torch.zeros(BATCH, WIDTH, device="cuda")
place = torch.zeros(1, dtype=torch.long, device="cuda")


def step():
    hidden = tokens + places.index_select(0, place)
    cache.index_copy_(1, place, hidden.unsqueeze(1))
    hidden = torch.relu((hidden + cache.sum(1)) @ up)
    return hidden @ down

side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    step()
torch.cuda.current_stream().wait_stream(side)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    out = step()
for i in range(4):
    if i == 0 or not FIXED:
        tokens.copy_(torch.randn(BATCH, WIDTH))
    place.fill_(i)
    graph.replay()
    assert out.cpu().shape == (BATCH, WIDTH)
