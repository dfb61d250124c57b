# graphkit: error shared-workspace 2.38 MiB :35
"""A mixture of experts with a graph for each scope: the router, each expert, and what joins them. Experts run on two streams.

The fault: all graphs share a pool, though two experts run at once: both work in the same memory. graphkit must name it.
The twin: a pool for each stream.
"""
import sys

import torch
from torch import nn

FIXED = sys.argv[1:] == ["fixed"]
EXPERTS, WIDTH, TOKENS = 4, 128, 256

router = nn.Linear(WIDTH, EXPERTS).cuda()
experts = [nn.Sequential(nn.Linear(WIDTH, 512), nn.GELU(), nn.Linear(512, WIDTH)).cuda() for _ in range(EXPERTS)]
x = torch.randn(TOKENS, WIDTH, device="cuda")
streams = [torch.cuda.Stream() for _ in range(2)]
pools = [torch.cuda.graph_pool_handle() for _ in range(2)]
shared = torch.cuda.graph_pool_handle()


def capture(scope, pool):
    with torch.cuda.stream(streams[0]):
        scope()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, pool=pool, stream=streams[0]):
        result = scope()
    return graph, result


with torch.inference_mode():
    route, weights = capture(lambda: router(x).softmax(1), shared)
    graphs = [capture(lambda expert=expert: expert(x), pools[number % 2] if FIXED else shared)
              for number, expert in enumerate(experts)]
    join, y = capture(lambda: sum(weights[:, number : number + 1] * result for number, (_, result) in enumerate(graphs)), shared)
    for _ in range(3):
        route.replay()
        for stream in streams:
            stream.wait_stream(torch.cuda.current_stream())
        for number, (graph, _) in enumerate(graphs):
            with torch.cuda.stream(streams[number % 2]):
                graph.replay()
        for stream in streams:
            torch.cuda.current_stream().wait_stream(stream)
        join.replay()
torch.cuda.synchronize()
