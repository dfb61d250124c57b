# graphkit: error capture-invalidated :27 in moe_utils.py:369 'cudaStreamSynchronize'
# graphkit: error capture-invalidated :28 in utils.py:206 'cudaDeviceSynchronize'
"""Captures that libraries break: megatron-core's experts without padding read how many tokens each gets, and bitsandbytes'
optimizer synchronizes after each step. Both are found by the library's line."""
import bitsandbytes
import torch
from megatron.core.transformer.moe import moe_utils

layer = torch.nn.Linear(512, 512).cuda()
adam = bitsandbytes.optim.AdamW8bit(layer.parameters(), lr=1e-3)
layer.weight.grad, layer.bias.grad = torch.zeros_like(layer.weight), torch.zeros_like(layer.bias)
tokens, probs = torch.zeros(16, 8).cuda(), torch.zeros(16, 4).cuda()
routing = torch.zeros(16, 4, dtype=torch.bool).cuda()


def broken(function):
    function()
    torch.cuda.synchronize()
    try:
        with torch.cuda.graph(torch.cuda.CUDAGraph()):
            function()
    except torch.AcceleratorError:
        return
    raise AssertionError("the capture wasn't broken")


broken(lambda: moe_utils.permute(tokens, routing, probs=probs, num_out_tokens=16))
broken(lambda: adam.step())
