# not: torch-2.8
import os
import tempfile

import torch

keeps = tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 14)
g = torch.cuda.CUDAGraph(keep_graph=True) if keeps else torch.cuda.CUDAGraph()
if not keeps:
    g.enable_debug_mode()
x = torch.ones(1024, device="cuda")
with torch.cuda.graph(g):
    y = x + 1
if keeps:
    g.instantiate()
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "graph.dot")
    g.debug_dump(path)
    with open(path) as file:
        text = file.read()
assert text.startswith("digraph") and "add" in text.lower(), text[:200]
g.replay()
torch.cuda.synchronize()
