"""Helpers of the programs of these tests: memory, a stream, a capture, by ctypes."""

import ctypes

P, LL, SIZE = ctypes.c_void_p, ctypes.c_longlong, ctypes.c_size_t


def check(status):
    assert status == 0, status


def out(function, *arguments):
    """The value that a call writes through its first argument."""
    value = P()
    check(function(ctypes.byref(value), *arguments))
    return value


class Device:
    """The runtime of a version of CUDA, with one stream."""

    def __init__(self, major):
        self.cudart = ctypes.CDLL(f"libcudart.so.{major}")
        self.stream = out(self.cudart.cudaStreamCreate)

    def memory(self):
        """A mebibyte, a block of its own."""
        return out(self.cudart.cudaMalloc, SIZE(1 << 20))

    def capture(self):
        check(self.cudart.cudaStreamBeginCapture(self.stream, 1))

    def end(self):
        graph = out(lambda graph: self.cudart.cudaStreamEndCapture(self.stream, graph))
        nodes = SIZE()
        check(self.cudart.cudaGraphGetNodes(graph, P(), ctypes.byref(nodes)))
        return nodes.value
