# graphkit: nothing
"""megatron-core: layers of four experts with padded buffers, a graph for each layer."""
import tiny_megatron

LAYERS, HIDDEN, LENGTH, EXPERTS = 4, 256, 64, 4

tiny_megatron.train("local", experts=EXPERTS, layers=LAYERS, hidden=HIDDEN, length=LENGTH)
