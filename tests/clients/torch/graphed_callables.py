import torch
from torch import nn

net = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 8)).cuda()
x = torch.randn(4, 32, device="cuda", requires_grad=True)
graphed = torch.cuda.make_graphed_callables(net, (x,))
for _ in range(3):
    graphed(torch.randn(4, 32, device="cuda", requires_grad=True)).sum().backward()
torch.cuda.synchronize()
