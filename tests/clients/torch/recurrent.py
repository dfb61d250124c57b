import torch
from torch import nn

for cell in (nn.LSTM, nn.GRU, nn.RNN):
    net = cell(8, 16, num_layers=2, bidirectional=True, dropout=0.1).cuda()
    x = torch.randn(5, 3, 8, device="cuda", requires_grad=True)
    net(x)[0].sum().backward()
    assert x.grad.shape == x.shape
