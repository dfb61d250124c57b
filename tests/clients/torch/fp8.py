import torch

a = torch.zeros(32, 64, device="cuda").to(torch.float8_e4m3fn)
b = torch.zeros(48, 64, device="cuda").to(torch.float8_e4m3fn).t()
one = torch.ones((), device="cuda")
assert torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=torch.bfloat16).shape == (32, 48)
