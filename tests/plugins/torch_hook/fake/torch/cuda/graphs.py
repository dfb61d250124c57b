"""Captures on a stream of their own, into a private pool for each graph."""

import ctypes
import sys

_capturing = []  # graphs
_streams = []  # that `with torch.cuda.stream(…)` is inside of


class Stream:
    def __init__(self, handle=None):
        self.cuda_stream = handle

    def made(self):
        """Its handle: made at its first use."""
        from .memory import _init, check, library

        _init()
        if self.cuda_stream is None:
            made = ctypes.c_void_p()
            check(library().cudaStreamCreateWithFlags(ctypes.byref(made), 1))
            self.cuda_stream = made.value
        return ctypes.c_void_p(self.cuda_stream)

    def record_event(self):
        from .memory import check, library

        event = ctypes.c_void_p()
        check(library().cudaEventCreateWithFlags(ctypes.byref(event), 2))
        check(library().cudaEventRecord(event, self.made()))
        return event

    def wait_event(self, event):
        from .memory import check, library

        check(library().cudaStreamWaitEvent(self.made(), event, 0))

    def wait_stream(self, other):
        from .memory import check, library

        event = other.record_event()
        self.wait_event(event)
        check(library().cudaEventDestroy(event))


class stream:
    def __init__(self, of):
        self.of = of

    def __enter__(self):
        self.of.made()
        _streams.append(self.of)

    def __exit__(self, *unused):
        _streams.pop()


def current_stream():
    return Stream(current_handle())


def current_handle():
    if _streams:
        return _streams[-1].cuda_stream
    return _capturing[-1].stream if _capturing else 0


def is_current_stream_capturing():
    return bool(_capturing)


def pool():
    return _capturing[-1].pool_id if _capturing else (0, 0)


class CUDAGraph:
    made = 0

    def __init__(self, keep_graph=False):
        CUDAGraph.made += 1
        self.pool_id = (CUDAGraph.made, 0)
        self.stream = self.graph = self.exec = None
        self.accepts = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(self._accepts)

    def _accepts(self, context, handle):
        """True if a stream's memory comes from the graph's pool: it is part of the capture."""
        from .memory import library

        status = ctypes.c_int()
        library().cudaStreamIsCapturing(ctypes.c_void_p(handle), ctypes.byref(status))
        return status.value == 1

    def capture_begin(self, pool=None, capture_error_mode="global"):
        from .memory import _init, check, library

        _init()
        made = ctypes.c_void_p()
        check(library().cudaStreamCreateWithFlags(ctypes.byref(made), 1))
        self.stream = made.value
        check(library().cudaStreamBeginCapture(made, 2))
        _capturing.append(self)
        self._redirect("begin", self.accepts)

    def capture_end(self):
        from .memory import check, library

        _capturing.pop()
        graph, executable = ctypes.c_void_p(), ctypes.c_void_p()
        check(library().cudaStreamEndCapture(ctypes.c_void_p(self.stream), ctypes.byref(graph)))
        check(library().cudaGraphInstantiate(ctypes.byref(executable), graph, ctypes.c_ulonglong(0)))
        check(library().cudaGraphDestroy(graph))
        self.exec = executable.value
        self._redirect("end")

    def _redirect(self, what, *arguments):
        from . import pluggable

        if pluggable.current is not None:
            pluggable.current.allocator().pool(what, self.pool_id, *arguments, *([None] if arguments else []))

    def reset(self):
        self._redirect("release")

    def pool(self):
        return self.pool_id

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
