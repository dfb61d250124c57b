# graphkit: nothing
"""A training step that torch.compile captures by itself: forward and backward are graphs of one tree."""
import torch
import torch.nn.functional as F
from torch import nn

WIDTH, WORDS, BATCH = 128, 256, 32


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


model = nn.Sequential(nn.Embedding(WORDS, WIDTH), Block(), Block(), nn.Linear(WIDTH, WORDS)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), fused=True, capturable=True)


@torch.compile(mode="reduce-overhead")
def loss_of(text, following):
    return F.cross_entropy(model(text), following)


text, following = (torch.randint(0, WORDS, (BATCH,), device="cuda") for _ in range(2))
for _ in range(6):
    torch.compiler.cudagraph_mark_step_begin()
    optimizer.zero_grad(set_to_none=True)
    loss_of(text, following).backward()
    optimizer.step()
torch.cuda.synchronize()
