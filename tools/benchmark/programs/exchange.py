"""Layers that compute in chunks on one stream while another one exchanges the chunks before (as overlapped tensor parallelism does)."""

import torch
from captured import capture
from torch import nn

CHUNKS, LAYERS, WIDTH, ROWS, AHEAD = 4, 2, 128, 256, 2

layers = [nn.Linear(WIDTH, WIDTH).cuda() for _ in range(LAYERS)]
communication = torch.cuda.Stream()
x = torch.zeros(ROWS, WIDTH, device="cuda")


@torch.inference_mode()
def step():
    main, chunks = torch.cuda.current_stream(), list(x.chunk(CHUNKS))
    communication.wait_stream(main)
    for layer in layers:
        under_way, exchanged = [], []
        for number, chunk in enumerate(chunks):
            y = nn.functional.gelu(layer(chunk))
            communication.wait_event(main.record_event())
            with torch.cuda.stream(communication):
                parts = torch.cat([y, y * 0.5], 1)  # these stand for the exchange
                exchanged.append(parts[:, :WIDTH] + parts[:, WIDTH:])
                under_way.append((y, parts, communication.record_event()))
            if number >= AHEAD:  # main may use the memory of a chunk again once it is exchanged
                main.wait_event(under_way.pop(0)[2])
        main.wait_stream(communication)
        chunks = exchanged
    result = torch.cat(chunks)
    communication.wait_stream(main)
    return result


capture(step)
