import torch

x = torch.randn(1 << 18, device="cuda")
side = torch.cuda.Stream()
g = torch.cuda.CUDAGraph()
torch.cuda.synchronize()
with torch.cuda.graph(g):
    for _ in range(4):
        y = x * 2
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            z = y + 1
            y.record_stream(side)
        del y
    torch.cuda.current_stream().wait_stream(side)
g.replay()
torch.cuda.synchronize()
