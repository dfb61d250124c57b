# graphkit: note late-free 1.75 MiB :22
"""An optimizer whose states are BF16: they are brought to FP32 for the update, and back.

The fault: the FP32 copies of all parameters' states are kept until the end of the step, where each is needed for one parameter
only. graphkit must say how much lower the peak could be, and name the line of the copies. The twin: a parameter at a time.
"""
import sys

import torch

FIXED = sys.argv[1:] == ["fixed"]
LAYERS, WIDTH, RATE, DECAY = 8, 256, 0.01, 0.9

weights = [torch.randn(WIDTH, WIDTH, device="cuda") for _ in range(LAYERS)]
momenta = [torch.zeros(WIDTH, WIDTH, device="cuda", dtype=torch.bfloat16) for _ in range(LAYERS)]
gradients = [torch.randn(WIDTH, WIDTH, device="cuda") for _ in range(LAYERS)]


def step():
    copies = []
    for weight, momentum, gradient in zip(weights, momenta, gradients):
        state = momentum.float()
        state.mul_(DECAY).add_(gradient)
        weight.sub_(state, alpha=RATE)
        momentum.copy_(state)
        if not FIXED:
            copies.append(state)
        del state


step()
torch.cuda.synchronize()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    step()
for _ in range(3):
    graph.replay()
torch.cuda.synchronize()
