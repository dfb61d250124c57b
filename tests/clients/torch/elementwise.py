import torch

x = torch.randn(1000, device="cuda")
y = torch.where(x > 0, x.exp(), x.sin()).cumsum(0)
assert torch.stack([y, x]).sort().values.sum().shape == ()
assert torch.zeros(4, device="cuda").tolist() == [0] * 4
