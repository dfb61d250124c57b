import torch

from cudagraphkit import torch_allocator


class Captured(torch.cuda.CUDAGraph):
    """A reader's graph with an activation, captured at its first launch: after the allocator is in its place."""

    def replay(self):
        if self.exec is None:
            with torch.cuda.graph(self):
                torch.empty(4 << 20).zero_()
        super().replay()


graph, n = Captured(), 1 << 20
