"""Inference of a network whose layers have branches of different depth, each on a stream of its own, joined after each layer."""

import torch
from captured import capture
from torch import nn

BRANCHES, LAYERS, WIDTH, BATCH = 3, 3, 128, 64

layers = [[nn.Sequential(*(nn.Linear(WIDTH, WIDTH) for _ in range(1 + number))).cuda() for number in range(BRANCHES)]
          for _ in range(LAYERS)]
streams = [torch.cuda.Stream() for _ in range(BRANCHES)]
x = torch.zeros(BATCH, WIDTH, device="cuda")


@torch.inference_mode()
def step():
    main, y = torch.cuda.current_stream(), x
    for layer in layers:
        results = []
        for stream, branch in zip(streams, layer):
            stream.wait_stream(main)
            with torch.cuda.stream(stream):
                results.append(torch.relu(branch(y)) * (len(results) + 1))
        for stream in streams:
            main.wait_stream(stream)
        y = torch.cat(results, 1).view(BATCH, BRANCHES, WIDTH).sum(1)
        for stream in streams:  # what they allocated is theirs again
            stream.wait_stream(main)
    return y


capture(step)
