"""Captures on a stream of their own, into a private pool for each graph."""

import ctypes
import sys

_capturing = []  # graphs


def stream():
    return _capturing[-1].stream if _capturing else 0


def pool():
    return _capturing[-1].pool_id if _capturing else (0, 0)


class CUDAGraph:
    made = 0

    def __init__(self, keep_graph=False):
        CUDAGraph.made += 1
        self.pool_id = (CUDAGraph.made, 0)
        self.stream = self.graph = self.exec = None

    def capture_begin(self, pool=None, capture_error_mode="global"):
        from .memory import _init, check, library

        _init()
        made = ctypes.c_void_p()
        check(library().cudaStreamCreateWithFlags(ctypes.byref(made), 1))
        self.stream = made.value
        check(library().cudaStreamBeginCapture(made, 2))
        _capturing.append(self)

    def capture_end(self):
        from .memory import check, library

        _capturing.pop()
        graph, executable = ctypes.c_void_p(), ctypes.c_void_p()
        check(library().cudaStreamEndCapture(ctypes.c_void_p(self.stream), ctypes.byref(graph)))
        check(library().cudaGraphInstantiate(ctypes.byref(executable), graph, ctypes.c_ulonglong(0)))
        check(library().cudaGraphDestroy(graph))
        self.exec = executable.value

    def replay(self):
        from .memory import check, library

        check(library().cudaGraphLaunch(ctypes.c_void_p(self.exec), None))

    def __del__(self):
        if sys.is_finalizing() or not self.exec:
            return
        from .memory import library

        library().cudaGraphExecDestroy(ctypes.c_void_p(self.exec))


class graph:
    def __init__(self, cuda_graph, pool=None, stream=None, capture_error_mode="global"):
        self.graph = cuda_graph

    def __enter__(self):
        self.graph.capture_begin()

    def __exit__(self, *unused):
        self.graph.capture_end()
