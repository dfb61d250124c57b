# refused: pluggable does not yet support checkPoolLiveAllocations
# graphkit: nothing
"""torch.compile(mode="reduce-overhead"): training in trees of graphs, with a graph break, three lengths, and mutated inputs. A
warm-up of each length runs in the graphs' pool."""
import torch
from torch import nn
from torch.nn import functional


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        attended = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(functional.gelu(self.up(self.norm2(x))))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.head = nn.Embedding(512, 128), nn.Linear(128, 512)
        self.first, self.second = Block(128, 4), Block(128, 4)
        self.register_buffer("seen", torch.zeros(1))

    def forward(self, tokens):
        self.seen.add_(1)
        x = self.first(self.embedding(tokens))
        torch._dynamo.graph_break()
        return self.head(self.second(x))


net = Net().cuda().bfloat16()
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3, fused=True, capturable=True)
compiled = torch.compile(net, mode="reduce-overhead")
for length in (64, 64, 64, 64, 96, 96, 96, 128, 128, 128, 64, 96):
    tokens = torch.randint(0, 512, (4, length), device="cuda")
    torch.compiler.cudagraph_mark_step_begin()
    loss = functional.cross_entropy(compiled(tokens).view(-1, 512).float(), tokens.view(-1))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


@torch.compile(mode="reduce-overhead")
def mutate(kept, x):
    kept.add_(x)
    return (kept * 2).relu()


kept = torch.zeros(4, 128, device="cuda")
for _ in range(5):
    torch.compiler.cudagraph_mark_step_begin()
    mutate(kept, torch.ones(4, 128, device="cuda"))
torch.cuda.synchronize()
