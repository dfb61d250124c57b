# graphkit: nothing
"""Transformer Engine: a layer in BF16, then one in FP8 with delayed scaling, each captured by make_graphed_callables."""
import torch
import transformer_engine.pytorch as te
from transformer_engine.common.recipe import DelayedScaling

HIDDEN, FEED_FORWARD, HEADS, LENGTH = 256, 512, 8, 64


def train(recipe):
    layer = te.TransformerLayer(HIDDEN, FEED_FORWARD, HEADS, params_dtype=torch.bfloat16, hidden_dropout=0, attention_dropout=0,
                                fuse_qkv_params=True, self_attn_mask_type="causal").cuda()
    x = torch.randn(LENGTH, 2, HIDDEN, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    graphed = te.make_graphed_callables(layer, (x,), num_warmup_iters=2, enabled=recipe is not None, recipe=recipe)
    for _ in range(3):
        with te.autocast(enabled=recipe is not None, recipe=recipe):
            y = graphed(x)
        y.sum().backward()


train(None)
train(DelayedScaling())
torch.cuda.synchronize()
