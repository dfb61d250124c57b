"""A stand-in for PyTorch, where there is none: as much of it as the hook of `graphkit trace` and the Python package use.

Memory comes from the CUDA runtime that the loader finds, graphs are captured by it. Names and behaviour are those of PyTorch 2.1
and later; the allocator is the simplest that gives true snapshots.
"""

import os

__version__ = os.environ.get("FAKE_TORCH_VERSION", "2.9.0+cu130")


class version:
    cuda = "13.0"


class distributed:
    """As if init_process_group had been called where FAKE_TORCH_RANK is set."""

    @staticmethod
    def is_available():
        return True

    @staticmethod
    def is_initialized():
        return "FAKE_TORCH_RANK" in os.environ

    @staticmethod
    def get_rank():
        return int(os.environ["FAKE_TORCH_RANK"])


from . import autograd, cuda  # noqa: E402, F401

empty = cuda.memory.Tensor
