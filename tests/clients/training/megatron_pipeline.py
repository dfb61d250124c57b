# graphkit: nothing
# environment: GRAPHKIT_SOFT_DEVICES=2
# torchrun: 2
"""megatron-core: two stages of a pipeline (1F1B), a graph for each layer and microbatch. There is no error. Notes of
pool-clobbered-workspace come and go: PyTorch's elementwise kernels take a struct whose unused part has earlier content of the
host's stack, and an address in it seems to be read."""
import tiny_megatron

tiny_megatron.train("local", pipeline=2)
