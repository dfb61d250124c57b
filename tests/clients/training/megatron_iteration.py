# graphkit: warning deferred-record-stream
# graphkit: warning deferred-record-stream
"""megatron-core: the whole iteration in one graph. Its backward runs on streams of its own, which gradients are recorded on: in a
capture PyTorch keeps such blocks until its end, unless graph_capture_record_stream_reuse is set. Both warnings are true: of blocks
that later mallocs could have had, and of one that was freed last."""
import tiny_megatron

LAYERS, HIDDEN, LENGTH, MICROBATCHES = 4, 256, 64, 4

tiny_megatron.train("full", microbatches=MICROBATCHES, layers=LAYERS, hidden=HIDDEN, length=LENGTH)
