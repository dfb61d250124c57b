# graphkit: note eager-use-of-graph-memory
"""Transformer Engine: four layers as two chunks of a pipeline, a graph for each layer and microbatch, captured in the order of
interleaved 1F1B (_order) with buffers that microbatches share, in FP8. The note is true: gradients are copied out of memory that
their capture freed."""
import torch
import transformer_engine.pytorch as te
from transformer_engine.common.recipe import DelayedScaling

LAYERS, CHUNKS, MICROBATCHES, HIDDEN = 4, 2, 2, 256
ORDER = [1, 2, 1, 2, -2, -1, -2, -1]
EACH = LAYERS // CHUNKS


def batch():
    return torch.randn(64, 2, HIDDEN, device="cuda", dtype=torch.bfloat16, requires_grad=True)


layers = tuple(te.TransformerLayer(HIDDEN, 2 * HIDDEN, 8, params_dtype=torch.bfloat16, hidden_dropout=0, attention_dropout=0,
                                   self_attn_mask_type="causal", layer_number=number + 1).cuda() for number in range(LAYERS))
graphed = te.make_graphed_callables(
    layers, tuple((batch(),) for _ in range(LAYERS * MICROBATCHES)), num_warmup_iters=2, enabled=True, recipe=DelayedScaling(),
    _order=ORDER, _num_layers_per_chunk=[EACH] * CHUNKS, _reuse_graph_input_output_buffers=True)
with te.autocast(enabled=True, recipe=DelayedScaling()):
    for _ in range(2):
        done, outputs = dict.fromkeys(ORDER, 0), {}
        for chunk in ORDER:
            microbatch = done[chunk]
            done[chunk] += 1
            if chunk > 0:
                hidden = batch()
                for layer in range(EACH):
                    hidden = graphed[((chunk - 1) * MICROBATCHES + microbatch) * EACH + layer](hidden)
                outputs[chunk, microbatch] = hidden
            else:
                outputs.pop((-chunk, microbatch)).sum().backward()
torch.cuda.synchronize()
