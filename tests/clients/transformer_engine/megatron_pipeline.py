# environment: GRAPHKIT_SOFT_DEVICES=2
# torchrun: 2
# graphkit: nothing
"""megatron-core with --cuda-graph-impl transformer_engine: two stages of a pipeline (1F1B), whose graphs Transformer Engine
captures in the schedule's order, with buffers that microbatches share."""
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).parents[1] / "training"))
import tiny_megatron

tiny_megatron.train("transformer_engine", engine=True, pipeline=2)
