# graphkit: nothing
# kept: 33619968 33619968
"""torch_memory_saver: a pause unmaps the memory of a captured graph and of the weights, a resume maps it again at its addresses.
With `fixed` there is neither, and the graph has the same memory."""
import os
import sys

import torch
from torch_memory_saver import configure_subprocess, torch_memory_saver

if "torch_memory_saver" not in os.environ.get("LD_PRELOAD", ""):
    with configure_subprocess():
        os.execv(sys.executable, [sys.executable, *sys.argv])

torch_memory_saver.hook_mode = "preload"
with torch_memory_saver.region("weights", enable_cpu_backup=True):  # the first allocation of the process
    model = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.GELU(), torch.nn.Linear(1024, 256)).cuda()
inputs = torch.randn(64, 256, device="cuda")
with torch.no_grad():
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        model(inputs)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch_memory_saver.cuda_graph(graph, tag="graph"):
        output = model(inputs)
    graph.replay()
    torch.cuda.synchronize()
    addresses = [tensor.data_ptr() for tensor in (output, *model.parameters())]
    for _ in range(0 if sys.argv[1:] == ["fixed"] else 2):
        for tag in ("graph", "weights"):
            torch_memory_saver.pause(tag)
        for tag in ("weights", "graph"):
            torch_memory_saver.resume(tag)
    assert addresses == [tensor.data_ptr() for tensor in (output, *model.parameters())]
    graph.replay()
    torch.cuda.synchronize()
