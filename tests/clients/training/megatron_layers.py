# graphkit: nothing
"""megatron-core: a graph for each layer, forward and backward (cuda_graph_impl=local)."""
import tiny_megatron

tiny_megatron.train("local")
