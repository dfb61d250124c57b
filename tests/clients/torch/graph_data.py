# not: torch-2.8
"""CUDAGraph.get_graph_data() reads the graph through cuda.bindings.runtime, with ids of CUDA 13.1."""
import torch

if not hasattr(torch.cuda.CUDAGraph, "get_graph_data"):
    raise SystemExit(0)
g = torch.cuda.CUDAGraph(keep_graph=True)
x = torch.ones(1024, device="cuda")
with torch.cuda.graph(g):
    y = (x + 1).sum()
g.instantiate()
text = str(g.get_graph_data())
assert "kernel" in text and "reduce" in text, text[:400]
g.replay()
torch.cuda.synchronize()
