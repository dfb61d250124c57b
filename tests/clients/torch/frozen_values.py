# graphkit: warning frozen-argument :68 'as argument 2 (32-bit float) of update; the same line passed 0.025, 0.0333333, 0.05 and 0.1'
# graphkit: warning frozen-grid :75 'launches attend with a grid of 1 in y; the same line launched it with 1, 2, 3 and 4'
# graphkit: warning frozen-argument :80 'always passes 1 as argument 2 (32-bit integer) of scaled; the same line passed 2, 4, 5 and 7'
# graphkit: warning frozen-argument :88 'always passes 1 as argument 2 (32-bit integer) of scaled; the same line passed 400, 800, 1200 and 1600'
# graphkit: note state-not-reset :99 '(16 MiB) was set once, by a memset' not torch-2.8
# graphkit: warning state-not-reset :105 '(16 MiB) was set before each use outside of graphs'
# graphkit: warning capture-differs-from-warmup :112 'ran branch differently from 4 warm-ups'
# options: --stacks --scope all
"""Planted faults: what was right while a step was captured and is wrong at each replay. A learning rate, a number of splits, two lengths, a counter that is zeroed once or
outside of the graph, and a branch by the length: each is a step that runs four times, is captured and replayed. The twin keeps in memory what changes."""
import sys

import torch
import triton
from triton import language as tl

FIXED = sys.argv[1:] == ["fixed"]
STEPS, CAPACITY, BLOCK, BIG = 4, 4096, tl.constexpr(128), 4 << 20  # BIG: in a segment of its own


@triton.jit
def forward(x, y):
    at = tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at) * 2)


@triton.jit(do_not_specialize=["rate"])
def update(x, y, rate):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at) - rate * tl.load(y + at))


@triton.jit(do_not_specialize=["number"])
def scaled(x, y, number):
    at = tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at) * number)


@triton.jit
def scaled_from(x, y, number):
    at = tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at) * tl.load(number))


@triton.jit
def attend(x, y):
    at = tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at) * tl.program_id(1))


@triton.jit
def product(x, y, counter):
    if tl.atomic_add(counter, 1) == 0:
        tl.store(y, tl.load(x))


class State:
    capturing, step = False, 0

    def length(self):  # grows with each step; a capture has a dummy of length 1
        return 1 if self.capturing and not FIXED else 400 * (self.step + 1)


def rate(s):
    forward[(1,)](x, y)
    if FIXED:
        return scaled_from[(1,)](y, x, number)
    return update[(1,)](x, y, 0.1 / (s.step % STEPS + 1))


def splits(s):
    forward[(1,)](x, y)
    count = ((CAPACITY if FIXED else s.length()) + 511) // 512

    attend[(1, count)](y, x)


def planned(s):
    forward[(1,)](x, y)
    scaled[(1,)](y, x, ((CAPACITY if FIXED else s.length()) + 255) // 256)


def longest(s):
    forward[(1,)](x, y)
    z = torch.empty(128, device="cuda")
    if FIXED:
        return scaled_from[(1,)](y, z, number)
    return scaled[(1,)](y, z, s.length())


def products(counter):
    forward[(1,)](x, y)
    product[(1,)](x, y, counter)
    product[(1,)](y, x, counter)


def counted(s):
    if FIXED or (s.step == 0 and not s.capturing):
        first.zero_()
    products(first)


def reset(s):
    if FIXED or not s.capturing:
        second.zero_()
    products(second)


def branch(s):
    forward[(1,)](x, y)
    if s.length() > 256:
        attend[(1, 1)](x, y)


def run(step):
    s = State()
    for s.step in range(STEPS):
        step(s)
    torch.cuda.synchronize()
    s.capturing = True
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step(s)
    for _ in range(3):
        graph.replay()
    torch.cuda.synchronize()


x, y = torch.ones(BIG, device="cuda"), torch.ones(BIG, device="cuda")
number = torch.ones(BIG, device="cuda")
first, second = (torch.empty(BIG, dtype=torch.int32, device="cuda") for _ in range(2))
for case in (rate, splits, planned, longest, counted, reset, branch):
    run(case)
