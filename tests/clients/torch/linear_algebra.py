import torch

a = torch.eye(8, device="cuda") * 4
wide, batch = torch.ones(8, 12, device="cuda"), a.expand(5, 8, 8).contiguous()
assert torch.linalg.cholesky(a).shape == (8, 8)
assert torch.linalg.solve(a, torch.ones(8, 2, device="cuda")).shape == (8, 2)
assert torch.cholesky_solve(torch.ones(8, 2, device="cuda"), a).shape == (8, 2)
q, r = torch.linalg.qr(wide)
assert q.shape == (8, 8) and r.shape == (8, 12)
assert torch.ormqr(a, torch.ones(8, device="cuda"), wide).shape == (8, 12)
factors, pivots, _ = torch.linalg.ldl_factor_ex(a)
assert torch.linalg.ldl_solve(factors, pivots, wide).shape == (8, 12)

for matrices in (a, batch, a.double(), a.to(torch.complex64), torch.eye(600, device="cuda")):
    values, vectors = torch.linalg.eigh(matrices)
    assert values.shape == matrices.shape[:-1] and vectors.shape == matrices.shape
    assert torch.linalg.eigvalsh(matrices).shape == matrices.shape[:-1]
for driver in (None, "gesvd", "gesvdj", "gesvda"):
    for matrices in (wide, wide.expand(5, 8, 12).contiguous(), wide.T.to(torch.complex128)):
        u, s, v = torch.linalg.svd(matrices, full_matrices=False, driver=driver)
        assert s.shape[-1] == 8 and u.shape[-2] == matrices.shape[-2]
        assert torch.linalg.svdvals(matrices, driver=driver).shape == s.shape
