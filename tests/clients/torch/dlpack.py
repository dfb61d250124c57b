import torch

x = torch.randn(64, device="cuda")
side = torch.cuda.Stream()
g = torch.cuda.CUDAGraph()
torch.cuda.synchronize()
with torch.cuda.graph(g):
    y = x * 2
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        z = torch.from_dlpack(y) + 1
    torch.cuda.current_stream().wait_stream(side)
g.replay()
torch.cuda.synchronize()
