# environment: GRAPHKIT_TRACE_PROFILER=release
# incomplete: recording ended early, so that torch.profiler could subscribe to CUPTI
# graphkit: nothing
# The tracer lets go of CUPTI before a profile subscribes. Without GPU events on the software device.
import torch

x = torch.ones(8, device="cuda")


def captured():
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = x * 2
    graph.replay()
    return graph, y


first = captured()
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]) as profile:
    x + 1
assert any(event.key == "aten::add" for event in profile.key_averages())
second = captured()
torch.cuda.synchronize()
