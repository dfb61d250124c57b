"""Three replays of a graph under torch.profiler: prints the GPU's events in the profile, and the correlation ids of the launches.
For tools/gpu_check.sh, which runs it with each GRAPHKIT_TRACE_PROFILER. Exit code 77: PyTorch can't be used here.

    profiled.py PROFILE.json
"""

import json
import pathlib
import sys

from programs import need_torch

torch = need_torch()
x = torch.ones(1 << 20, device="cuda")
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    y = (x * 2).relu().sum()
activities = torch.profiler.ProfilerActivity
with torch.profiler.profile(activities=[activities.CPU, activities.CUDA]) as profile:
    for _ in range(3):
        graph.replay()
    torch.cuda.synchronize()
profile.export_chrome_trace(sys.argv[1])
events = json.loads(pathlib.Path(sys.argv[1]).read_text())["traceEvents"]
launches = [event["args"]["correlation"] for event in events if event.get("name") == "cudaGraphLaunch" and "args" in event]
print(f"{sum(event.get('cat') == 'kernel' for event in events)} kernels; launches {launches}")
