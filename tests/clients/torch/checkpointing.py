import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

layers = nn.ModuleList(nn.Linear(32, 32) for _ in range(3)).cuda()
x = torch.randn(4, 32, device="cuda", requires_grad=True)
y = x
for layer in layers:
    y = checkpoint(layer, y, use_reentrant=False)
y.sum().backward()
assert x.grad.shape == x.shape
