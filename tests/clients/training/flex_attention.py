# graphkit: nothing
"""A training step with FlexAttention, compiled, under a mask of blocks: a causal window."""
import torch
from torch import nn
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

BATCH, HEADS, LENGTH, DIM = 2, 4, 512, 64
WIDTH = HEADS * DIM
mask = create_block_mask(lambda b, h, q, k: (q >= k) & (q - k <= 128), B=None, H=None, Q_LEN=LENGTH, KV_LEN=LENGTH, device="cuda")
attend = torch.compile(flex_attention)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = self.qkv(x).view(BATCH, LENGTH, 3, HEADS, DIM).permute(2, 0, 3, 1, 4).unbind()
        return self.out(attend(q.contiguous(), k.contiguous(), v.contiguous(), block_mask=mask).transpose(1, 2).reshape(BATCH, LENGTH, WIDTH))


model = Attention().cuda().bfloat16()
optimizer = torch.optim.AdamW(model.parameters(), fused=True, capturable=True)
x = torch.randn(BATCH, LENGTH, WIDTH, dtype=torch.bfloat16, device="cuda")


def step():
    optimizer.zero_grad(set_to_none=True)
    model(x).float().square().mean().backward()
    optimizer.step()


side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(3):
        step()
torch.cuda.current_stream().wait_stream(side)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    step()
for _ in range(3):
    graph.replay()
torch.cuda.synchronize()
