import torch

pool = torch.cuda.graph_pool_handle()
graphs = []
for batch in (8, 4, 2, 1):
    x = torch.randn(batch, 64, device="cuda")
    w = torch.randn(64, 64, device="cuda")
    torch.mm(x, w)
    g = torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(g, pool=pool):
        y = (x @ w).relu() @ w
    graphs.append((g, x, w, y))  # a graph's inputs have to live as long
for g, *_ in graphs:
    g.replay()
torch.cuda.synchronize()
