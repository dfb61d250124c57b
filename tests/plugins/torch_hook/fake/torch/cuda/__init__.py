"""CUDA is initialised at its first use, never by the import; calls that wait for it are queued."""

import os

_queued_calls = []
_initialized = None  # the process that did


def is_initialized():
    return _initialized == os.getpid()


def _lazy_call(call, **kwargs):
    if is_initialized():
        call()
    else:
        _queued_calls.append(call)


def _lazy_init():
    global _initialized
    if is_initialized():
        return
    if _initialized is not None:
        raise RuntimeError("Cannot re-initialize CUDA in forked subprocess")
    _initialized = os.getpid()
    for call in _queued_calls:
        call()


from . import graphs, memory, nvtx, pluggable  # noqa: E402, F401
from .graphs import CUDAGraph, Stream, current_stream, graph, is_current_stream_capturing, stream  # noqa: E402, F401
from .memory import max_memory_reserved, memory_allocated, memory_stats, reset_peak_memory_stats  # noqa: E402, F401


def synchronize():
    _lazy_init()
    memory.library().cudaDeviceSynchronize()


def is_available():
    return True


def current_device():
    return 0
