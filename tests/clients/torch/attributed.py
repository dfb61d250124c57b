# not: torch-2.8
# attributed: :20 :23 :24 :25
"""Replays as PyTorch's profiler writes those of a GPU: their kernels have the lines of their launches, by ids and by order alike.

The profiler has no work of the software device. So the program writes the profile itself, from the ids, names and grids that
get_graph_data() reads of the graph.
"""
import json

import torch

x = torch.ones(64, 64, device="cuda")
bias = torch.ones(64, device="cuda")
y, z = torch.empty_like(x), torch.empty_like(x)
side = torch.cuda.Stream()
g = torch.cuda.CUDAGraph(keep_graph=True)
torch.cuda.synchronize()
with torch.cuda.graph(g):
    for _ in range(3):
        torch.mul(x, x, out=y)
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            torch.add(y, bias, out=z)
            z.copy_(y)
        y.mul_(2)
        torch.cuda.current_stream().wait_stream(side)
g.instantiate()
CATEGORIES = {"kernel": "kernel", "memcpy": "gpu_memcpy", "memset": "gpu_memset"}
events = []
for launch in range(2):
    begin = 1000 * launch
    events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaGraphLaunch", "pid": 1, "tid": 1, "ts": begin, "dur": 5,
                   "args": {"correlation": 100 + launch}})
    for node in g.get_graph_data()["nodes"]:
        if node["node_type"] not in CATEGORIES:
            continue
        begin += 10
        kernel = node["kernel_name"]
        events.append({"ph": "X", "cat": CATEGORIES[node["node_type"]], "name": torch._C._demangle(kernel) if kernel else node["node_type"],
                       "pid": 0, "tid": 7, "ts": begin, "dur": 5 + launch,
                       "args": {"device": 0, "stream": 7, "correlation": 100 + launch, "grid": node["grid_dim"], "block": node["block_dim"],
                                "graph id": node["graph_id"], "graph node id": node["tools_id"]}})
    g.replay()
torch.cuda.synchronize()
with open("replays.json", "w") as file:
    json.dump({"traceEvents": events}, file)
