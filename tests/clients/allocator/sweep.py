"""A random capture by the five parameters of pytorch/pytorch#158352 (docs/replay.md, "The published sweep").

SWEEP="STREAMS OPERATIONS JOIN ALLOCATE FREE [SEED]"; by default the first row of its table. Blocks have 4 MiB, or with a word
in MIXED any size from 512 B to 32 MiB.
"""

import os
import random

import torch

COUNT, OPERATIONS, JOIN, ALLOCATE, FREE, SEED = (os.environ.get("SWEEP", "2 1000 .1 .1 .1").split() + ["1"])[:6]
MIB = 1 << 20
chance = random.Random(int(SEED))
streams = [torch.cuda.Stream() for _ in range(int(COUNT))]
read = {stream: torch.empty(256, dtype=torch.uint8, pin_memory=True) for stream in streams}
blocks = []
seen = {stream: [] for stream in streams}  # blocks whose allocation a stream comes after: that is what it may use


def wait(stream, other):
    if stream != other:
        stream.wait_stream(other)
        seen[stream] += [block for block in seen[other] if block not in seen[stream]]


class Block:
    def __init__(self, stream):
        size = int(512 * 2 ** chance.uniform(0, 16)) if os.environ.get("MIXED") else 4 * MIB
        self.stream, self.memory = stream, torch.empty(size, dtype=torch.uint8, device="cuda").zero_()

    def use(self, stream):
        read[stream].copy_(self.memory[:256], non_blocking=True)
        if stream != self.stream:
            self.memory.record_stream(stream)


def forget(block):
    for known in (blocks, *seen.values()):
        if block in known:
            known.remove(block)


def step():
    stream = chance.choice(streams)
    if chance.random() < float(JOIN):
        wait(stream, chance.choice(streams))
    with torch.cuda.stream(stream):
        if blocks and chance.random() < float(FREE):
            forget(chance.choice(blocks))
        elif chance.random() < float(ALLOCATE):
            blocks.append(Block(stream))
            seen[stream].append(blocks[-1])
        if seen[stream]:
            chance.choice(seen[stream]).use(stream)


graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph, stream=streams[0]):
    torch.empty(256, device="cuda").zero_()  # a graph must not be empty
    for other in streams[1:]:
        other.wait_stream(streams[0])
    for _ in range(int(OPERATIONS)):
        step()
    for other in streams[1:]:
        streams[0].wait_stream(other)
graph.replay()
torch.cuda.synchronize()
