import torch

x = torch.randn(4, 64, device="cuda")
y = torch.fft.rfft(x)
assert torch.fft.irfft(y, n=64).shape == x.shape and torch.fft.fft2(x).shape == x.shape
