# environment: GRAPHKIT_SOFT_DEVICES=2
# torchrun: 2
# graphkit: warning comm-destroyed
# graphkit: warning comm-destroyed
# graphkit: warning comm-destroyed
# graphkit: warning comm-destroyed
# graphkit: warning comm-destroyed
# graphkit: warning comm-destroyed
# graphkit: warning comm-destroyed
# graphkit: warning comm-destroyed
"""megatron-core: layers split over two ranks, with all-reduces in the graphs. destroy_process_group() at its end comes before the
graphs go: a warning for each of them, as NCCL waits there for graphs that use a communicator."""
import tiny_megatron

tiny_megatron.train("local", tensor=2)
