# graphkit: warning dead-input 256 KiB :33
"""A graph reads memory of another library, imported by DLPack in the capture.

The fault: the tensor is imported in the capture and dropped; nothing keeps the exporter's memory, which is gone when the graph is
replayed. graphkit must name the block that the replay reads. The twin: the exporter's tensor is kept.
"""
import sys

import torch

FIXED = sys.argv[1:] == ["fixed"]


class Exporter:
    """Stands for another library: its memory is freed with it."""

    def __init__(self):
        self.memory = torch.ones(1 << 16, device="cuda")

    def __dlpack__(self, **options):
        return self.memory.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.memory.__dlpack_device__()


exporter = Exporter()
torch.cuda.synchronize()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    y = torch.from_dlpack(exporter) * 2
if not FIXED:
    del exporter
for _ in range(3):
    graph.replay()
torch.cuda.synchronize()
