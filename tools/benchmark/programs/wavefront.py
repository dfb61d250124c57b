"""Stacked recurrent layers as a wave front: each layer has a stream, and a cell waits for the layer below and for the step before."""

import torch
from captured import capture
from torch import nn

LAYERS, STEPS, WIDTH, BATCH = 3, 6, 64, 16

cells = [nn.GRUCell(WIDTH, WIDTH).cuda() for _ in range(LAYERS)]
streams = [torch.cuda.Stream() for _ in range(LAYERS)]
inputs = torch.zeros(STEPS, BATCH, WIDTH, device="cuda")


@torch.inference_mode()
def step():
    main = torch.cuda.current_stream()
    states, outputs = [torch.zeros(BATCH, WIDTH, device="cuda") for _ in cells], []
    for stream in streams:
        stream.wait_stream(main)
    for x in inputs:
        ready = None
        for layer, (cell, stream) in enumerate(zip(cells, streams)):
            with torch.cuda.stream(stream):
                if ready is not None:
                    stream.wait_event(ready)
                states[layer] = x = cell(x, states[layer])
                ready = stream.record_event()
        outputs.append(x)
    for stream in streams:
        main.wait_stream(stream)
    result = torch.stack(outputs)
    for stream in streams:
        stream.wait_stream(main)
    return result


capture(step)
