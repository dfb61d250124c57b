# graphkit: warning deferred-record-stream 2.40 MiB :42
# graphkit: warning deferred-record-stream 128 KiB :42
"""A GPT step whose gradients are reduced in buckets, one for each block, on a side stream (as DDP does).

The fault: a bucket is recorded on that stream and dropped. In a capture PyTorch can't ask whether the stream is done with it,
so that every bucket is kept until the capture ends. graphkit must say how much is kept, and name the line of the buckets.
The twin: the stream of the backward waits for a bucket before it makes the one after the next, and drops it then.
"""
import collections
import sys

import torch
from torch import nn
from torch.nn import functional as F

FIXED = sys.argv[1:] == ["fixed"]
WIDTH, HEADS, LAYERS, WORDS, LENGTH, BATCH, RANKS = 128, 4, 3, 256, 32, 2, 2


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(2))
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = self.qkv(self.norms[0](x)).view(BATCH, LENGTH, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(BATCH, LENGTH, WIDTH))
        return x + self.down(F.gelu(self.up(self.norms[1](x))))


model = nn.Sequential(nn.Embedding(WORDS, WIDTH), *(Block() for _ in range(LAYERS)), nn.Linear(WIDTH, WORDS)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), fused=True, capturable=True)
text, following = (torch.randint(0, WORDS, (BATCH, LENGTH), device="cuda") for _ in range(2))
communication, under_way, ready = torch.cuda.Stream(), collections.deque(), collections.defaultdict(list)


def reduce(parameters):
    if FIXED and len(under_way) == 2:
        torch.cuda.current_stream().wait_event(under_way.popleft()[1])
    bucket = torch.cat([parameter.grad.flatten() for parameter in parameters])
    communication.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(communication):
        bucket.div_(RANKS)  # and the all-reduce, which with one rank does nothing
        gradients = [parameter.grad.view(-1) for parameter in parameters]
        torch._foreach_copy_(gradients, bucket.split([gradient.numel() for gradient in gradients]))
    if FIXED:
        under_way.append((bucket, communication.record_event()))
    else:
        bucket.record_stream(communication)


def collect(layer, parameter):
    ready[layer].append(parameter)
    if len(ready[layer]) == len(list(layer.parameters())):
        reduce(ready.pop(layer))


for layer in model:
    for parameter in layer.parameters():
        parameter.register_post_accumulate_grad_hook(lambda parameter, layer=layer: collect(layer, parameter))


def step():
    optimizer.zero_grad(set_to_none=True)
    F.cross_entropy(model(text).view(-1, WORDS), following.view(-1)).backward()
    torch.cuda.current_stream().wait_stream(communication)
    under_way.clear()
    optimizer.step()


with torch.cuda.stream(torch.cuda.Stream()):
    step()
with torch.cuda.graph(graph := torch.cuda.CUDAGraph()):
    step()
for _ in range(3):
    graph.replay()
torch.cuda.synchronize()
