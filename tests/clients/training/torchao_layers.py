# graphkit: nothing
"""Layers of torchao in graphs: weights of 8 bits, and a training step with products in 8 bits of floating point."""
import torch
from torch import nn
from torchao.float8 import convert_to_float8_training
from torchao.quantization import Float8DynamicActivationFloat8WeightConfig, Int8WeightOnlyConfig, quantize_

WIDTH = 512


def make_model():
    layers = [nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH, bias=False), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH, bias=False)) for _ in range(3)]
    return nn.Sequential(*layers).cuda().bfloat16()


def capture(step):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = step()
    for _ in range(3):
        graph.replay()
    torch.cuda.synchronize()
    return graph, result


x = torch.randn(16, WIDTH, device="cuda", dtype=torch.bfloat16)
kept = []
for config in (Int8WeightOnlyConfig(), Float8DynamicActivationFloat8WeightConfig()):
    model = make_model()
    quantize_(model, config)
    with torch.no_grad():
        kept.append((model, capture(lambda model=model: model(x))))

trained = convert_to_float8_training(make_model())
optimizer = torch.optim.AdamW(trained.parameters(), fused=True, capturable=True)


def step():
    optimizer.zero_grad(set_to_none=True)
    trained(x).float().square().mean().backward()
    optimizer.step()


kept.append((trained, capture(step)))
