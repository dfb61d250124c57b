# graphkit: error static-address-changed
"""A planted fault: the second batch is bound to the name of the first, where it ought to be copied into its memory."""
import torch
from torch import nn

BATCH, WIDTH = 64, 256
model = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.ReLU(), nn.Linear(4 * WIDTH, WIDTH)).cuda()


def load_batch():
    return torch.rand(BATCH, WIDTH, device="cuda")


with torch.inference_mode():
    batch = load_batch()
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        model(batch)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = model(batch)
    graph.replay()
    batch = load_batch()  # batch.copy_(load_batch()) would do
    graph.replay()
torch.cuda.synchronize()
