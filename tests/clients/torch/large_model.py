# environment: GRAPHKIT_SOFT_DATA=none
import resource

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, HEADS, LAYERS, LENGTH = 8192, 64, 87, 128
BYTES, HOST = 140e9, 8e9


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH, bias=False), nn.Linear(WIDTH, WIDTH, bias=False)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH, bias=False), nn.Linear(4 * WIDTH, WIDTH, bias=False)

    def forward(self, x):
        q, k, v = self.qkv(x).view(LENGTH, 3, HEADS, WIDTH // HEADS).permute(1, 2, 0, 3).unsqueeze(1)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True)[0].transpose(0, 1).reshape(LENGTH, WIDTH))
        return x + self.down(F.gelu(self.up(x)))


torch.set_default_device("cuda")
torch.set_default_dtype(torch.bfloat16)
model = nn.Sequential(*(Block() for _ in range(LAYERS)))  # with random weights
assert sum(weight.nbytes for weight in model.parameters()) > BYTES
with torch.no_grad():
    x = torch.randn(LENGTH, WIDTH)
    model[0](x)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = model(x)
    graph.replay()
torch.cuda.synchronize()
assert y.shape == x.shape and not y.isnan().any()
assert torch.cuda.max_memory_allocated() > BYTES
taken = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert taken < HOST, f"the process took {taken >> 20} MiB of the host"
