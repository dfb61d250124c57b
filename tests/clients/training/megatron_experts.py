# graphkit: note serialized-branches
"""megatron-core: layers of four experts with padded buffers, a graph for each layer. The note is true: the experts are independent,
and their work is captured on one stream."""
import tiny_megatron

LAYERS, HIDDEN, LENGTH, EXPERTS = 4, 256, 64, 4

tiny_megatron.train("local", experts=EXPERTS, layers=LAYERS, hidden=HIDDEN, length=LENGTH)
