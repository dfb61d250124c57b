import torch

torch.cuda.manual_seed(3)
state = torch.cuda.get_rng_state()
g = torch.cuda.CUDAGraph()
x = torch.empty(64, device="cuda")
torch.cuda.synchronize()
with torch.cuda.graph(g):
    x.normal_()
    torch.nn.functional.dropout(x, 0.5)
g.replay()
g.replay()
torch.cuda.set_rng_state(state)
