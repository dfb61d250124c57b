import torch
from torch import nn

net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, stride=2, groups=2),
                    nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 4)).cuda()
x = torch.randn(2, 3, 16, 16, device="cuda", requires_grad=True)
net(x).sum().backward()
assert x.grad.shape == x.shape
net.eval().to(memory_format=torch.channels_last)(x)
assert nn.ConvTranspose3d(2, 3, 3).cuda()(torch.randn(1, 2, 4, 4, 4, device="cuda")).shape == (1, 3, 6, 6, 6)
