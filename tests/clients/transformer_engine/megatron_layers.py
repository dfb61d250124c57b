# graphkit: nothing
"""megatron-core with Transformer Engine's layers: a graph for each layer, forward and backward (cuda_graph_impl=local)."""
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).parents[1] / "training"))
import tiny_megatron

LAYERS, HIDDEN, LENGTH = 4, 256, 64

tiny_megatron.train("local", engine=True, layers=LAYERS, hidden=HIDDEN, length=LENGTH)
