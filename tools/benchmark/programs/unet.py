"""A training step of a U-Net: what the way down keeps for the way up, and what the backward keeps."""

import torch
from captured import capture
from torch import nn

DEPTH, WIDTH, SIZE, BATCH = 3, 16, 32, 2


def pair(narrow, wide):
    return nn.Sequential(nn.Conv2d(narrow, wide, 3, padding=1), nn.GroupNorm(4, wide), nn.SiLU(), nn.Conv2d(wide, wide, 3, padding=1), nn.SiLU())


class Unet(nn.Module):
    def __init__(self):
        super().__init__()
        widths = [WIDTH << level for level in range(DEPTH + 1)]
        self.begin, self.end = pair(4, WIDTH), nn.Conv2d(WIDTH, 4, 1)
        self.down = nn.ModuleList(pair(narrow, wide) for narrow, wide in zip(widths, widths[1:]))
        self.up = nn.ModuleList(pair(wide + narrow, narrow) for narrow, wide in zip(widths, widths[1:]))

    def forward(self, x):
        kept = [self.begin(x)]
        for layer in self.down:
            kept.append(layer(nn.functional.avg_pool2d(kept[-1], 2)))
        x = kept.pop()
        for layer in reversed(self.up):
            x = layer(torch.cat([nn.functional.interpolate(x, scale_factor=2.0), kept.pop()], 1))
        return self.end(x)


model = Unet().cuda()
images = torch.zeros(BATCH, 4, SIZE, SIZE, device="cuda")


def step():
    for parameter in model.parameters():
        parameter.grad = None
    model(images).square().mean().backward()


capture(step)
