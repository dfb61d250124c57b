# graphkit: nothing
# options: --scope all
"""What torch_memory_saver's regions give back, against the bill of a sleep: weights with a backup on the host, a cache that is set
anew, and a graph's own memory. `paused: BYTES CLASS…` are the classes that the bytes of a region have."""
import os
import sys

import torch
from torch_memory_saver import configure_subprocess, torch_memory_saver

if "torch_memory_saver" not in os.environ.get("LD_PRELOAD", ""):
    with configure_subprocess():
        os.execv(sys.executable, [sys.executable, *sys.argv])

WIDTH = 2048
CLASSES = {"weights": "constant", "cache": "state", "graph": "scratch output untouched"}

torch_memory_saver.hook_mode = "preload"
with torch_memory_saver.region("weights", enable_cpu_backup=True):
    weights = [torch.randn(WIDTH, WIDTH).to("cuda") for _ in range(2)]
with torch_memory_saver.region("cache"):
    cache = torch.zeros(4, WIDTH, WIDTH, device="cuda")
inputs = torch.zeros(512, WIDTH, device="cuda")


def step():
    held = cache.clone()
    hidden = inputs
    for weight in weights:
        hidden = hidden @ weight
    cache.copy_(held)
    return hidden


with torch.no_grad():
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        step()
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    graph = torch.cuda.CUDAGraph()
    with torch_memory_saver.cuda_graph(graph, tag="graph"):
        output = step()

    def replay():
        inputs.copy_(torch.randn(512, WIDTH))
        graph.replay()
        return output.cpu()

    for _ in range(3):
        replay()
    torch.cuda.synchronize()
    for tag, classes in CLASSES.items():
        before, _ = torch.cuda.mem_get_info()
        torch_memory_saver.pause(tag)
        print(f"paused: {torch.cuda.mem_get_info()[0] - before} {classes}", flush=True)
    for tag in CLASSES:
        torch_memory_saver.resume(tag)
    cache.zero_()
    for _ in range(2):
        replay()
