# graphkit: nothing
"""megatron-core: a graph for each layer, forward and backward (cuda_graph_impl=local)."""
import tiny_megatron

LAYERS, HIDDEN, LENGTH = 4, 256, 64

tiny_megatron.train("local", layers=LAYERS, hidden=HIDDEN, length=LENGTH)
