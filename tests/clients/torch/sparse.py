import torch

# The library's own are called with tensors that already have their formats: conversions run kernels, which find no entries here.
offsets = torch.tensor([0, 2, 3, 5, 6], device="cuda", dtype=torch.int32)
columns = torch.tensor([0, 2, 1, 0, 3, 2], device="cuda", dtype=torch.int32)
csr = torch.sparse_csr_tensor(offsets, columns, torch.ones(6, device="cuda"), (4, 4), check_invariants=False)
x, many = torch.ones(4, device="cuda"), torch.ones(4, 3, device="cuda")
assert (csr @ x).shape == (4,)
assert (csr @ many).shape == (4, 3)
assert torch.sparse.sampled_addmm(csr, many, many.T.contiguous()).layout == torch.sparse_csr
assert torch.triangular_solve(many, csr).solution.shape == (4, 3)
assert (csr @ csr).shape == (4, 4)
assert (csr + csr).shape == (4, 4)
coo = torch.sparse_coo_tensor(torch.zeros(2, 6, device="cuda", dtype=torch.int64), torch.ones(6, device="cuda"), (4, 4),
                              is_coalesced=True, check_invariants=False)
assert torch.sparse.mm(coo, many).shape == (4, 3)
blocks = torch.sparse_bsr_tensor(torch.tensor([0, 1, 2], device="cuda", dtype=torch.int32),
                                 torch.tensor([0, 1], device="cuda", dtype=torch.int32),
                                 torch.ones(2, 2, 2, device="cuda"), (4, 4), check_invariants=False)
assert (blocks @ x).shape == (4,)

out = torch.empty(4, 3, device="cuda")
graph = torch.cuda.CUDAGraph()
torch.cuda.synchronize()
with torch.cuda.graph(graph):
    torch.addmm(many, csr, many, out=out)
graph.replay()
torch.cuda.synchronize()
