# graphkit: nothing
"""megatron-core: layers of four experts with padded buffers, a graph for each layer."""
import tiny_megatron

tiny_megatron.train("local", experts=4)
