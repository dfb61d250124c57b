import torch
from torch import nn

x = torch.randn(4, 8, 16, device="cuda", requires_grad=True)
for layer in (nn.LayerNorm(16), nn.GroupNorm(2, 8), nn.BatchNorm1d(8), nn.RMSNorm(16), nn.Dropout(0.5), nn.Softmax(-1)):
    layer.cuda()(x).sum().backward()
