import torch

for kind in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.complex64, torch.complex128):
    a, b = torch.randn(8, 4, device="cuda", dtype=kind), torch.randn(4, 6, device="cuda", dtype=kind)
    assert (a @ b).shape == (8, 6)
    assert torch.bmm(a.expand(3, 8, 4).contiguous(), b.expand(3, 4, 6).contiguous()).shape == (3, 8, 6)
    assert torch.addmm(torch.zeros(6, device="cuda", dtype=kind), a, b).shape == (8, 6)
    assert (a @ b[:, 0]).shape == (8,) and torch.dot(a[:, 0], a[:, 1]).shape == ()
assert torch._int_mm(torch.ones(32, 32, device="cuda", dtype=torch.int8), torch.ones(32, 32, device="cuda", dtype=torch.int8)).shape == (32, 32)
