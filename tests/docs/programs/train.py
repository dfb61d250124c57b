"""A reader's training step: a capture whose activation crosses to a side stream, launched once."""

import torch

side = torch.cuda.Stream()
step = torch.cuda.CUDAGraph()
with torch.cuda.graph(step):
    activation = torch.empty(4 << 20).zero_()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        activation.zero_()
    del activation
    torch.cuda.current_stream().wait_stream(side)
    gradient = torch.empty(4 << 20).zero_()
step.replay()
torch.cuda.synchronize()
