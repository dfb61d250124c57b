# graphkit: nothing
"""A residual network for inference, with a graph for each size of batch, all in one pool."""
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, narrow, wide, stride):
        super().__init__()
        self.path = nn.Sequential(
            nn.Conv2d(narrow, wide, 3, stride, 1, bias=False), nn.BatchNorm2d(wide), nn.ReLU(inplace=True),
            nn.Conv2d(wide, wide, 3, 1, 1, bias=False), nn.BatchNorm2d(wide))
        same = narrow == wide and stride == 1
        self.short = nn.Identity() if same else nn.Sequential(
            nn.Conv2d(narrow, wide, 1, stride, bias=False), nn.BatchNorm2d(wide))

    def forward(self, x):
        return torch.relu(self.path(x) + self.short(x))


def make_network():
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    narrow = 64
    for wide in (64, 128, 256, 512):
        layers += [Block(narrow, wide, 1 if wide == 64 else 2), Block(wide, wide, 1)]
        narrow = wide
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))


network = make_network().cuda().eval()
pool = torch.cuda.graph_pool_handle()
graphs = {}
with torch.inference_mode():
    for batch in (16, 8, 4, 1):
        images = torch.zeros(batch, 3, 64, 64, device="cuda")
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(2):
                network(images)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=pool):
            scores = network(images)
        graphs[batch] = graph, images, scores

    for batch in (1, 16, 4, 8, 4, 1):
        graph, images, scores = graphs[batch]
        images.copy_(torch.rand(batch, 3, 64, 64))
        graph.replay()
        scores.argmax(1).cpu()
