# errors: capture-invalidated
import torch

x = torch.randn(8, device="cuda")
g = torch.cuda.CUDAGraph()
torch.cuda.synchronize()
try:
    with torch.cuda.graph(g):
        x.sum().item()
except RuntimeError as error:
    assert "capture" in str(error), error
else:
    raise AssertionError("reading a value in a capture succeeds")
assert (x * 2).shape == (8,)
