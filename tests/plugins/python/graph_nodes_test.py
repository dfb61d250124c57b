"""Nodes and edges of a graph as the driver gives them, of the software device."""

import ctypes
import os

import pytest
from cudagraphkit import _graph_nodes

PTX = b""".version 8.0
.target sm_90
.address_size 64
.visible .entry first(.param .u64 p) { ret; }
.visible .entry second(.param .u64 p) { ret; }
"""


class Graph:
    """A graph that calls of the driver make."""

    def __init__(self):
        self.driver = ctypes.CDLL("libcuda.so.1")
        self.context, self.module, self.graph, self.executable = (ctypes.c_void_p() for _ in range(4))
        self.call("cuInit", 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), 0)
        self.call("cuCtxSetCurrent", self.context)
        self.call("cuModuleLoadData", ctypes.byref(self.module), PTX)
        self.call("cuGraphCreate", ctypes.byref(self.graph), 0)

    def call(self, name, *arguments):
        assert getattr(self.driver, name)(*arguments) == 0, name

    def kernel(self, name, grid, shared, *after):
        function, node, pointer = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
        self.call("cuModuleGetFunction", ctypes.byref(function), self.module, name)
        arguments = (ctypes.c_void_p * 1)(ctypes.addressof(pointer))
        params = _graph_nodes._KernelParams(func=function, grid=grid, block=(64, 1, 1), shared=shared, params=ctypes.addressof(arguments))
        self.call("cuGraphAddKernelNode_v2", ctypes.byref(node), self.graph, (ctypes.c_void_p * len(after))(*after),
                  ctypes.c_size_t(len(after)), ctypes.byref(params))
        return node.value

    def empty(self, *after):
        node = ctypes.c_void_p()
        self.call("cuGraphAddEmptyNode", ctypes.byref(node), self.graph, (ctypes.c_void_p * len(after))(*after), ctypes.c_size_t(len(after)))
        return node.value

    def programmatic(self, begin, end):
        data = _graph_nodes._EdgeData(from_port=1, edge_type=1)
        begin, end = (ctypes.c_void_p * 1)(begin), (ctypes.c_void_p * 1)(end)
        self.call("cuGraphAddDependencies_v2", self.graph, begin, end, ctypes.byref(data), ctypes.c_size_t(1))

    def nodes(self):
        self.call("cuGraphInstantiateWithFlags", ctypes.byref(self.executable), self.graph, ctypes.c_uint64(0))
        return _graph_nodes.GraphNodes(_graph_nodes.Driver(), self.graph.value, self.executable.value)


@pytest.fixture
def graph():
    if not os.environ.get("GRAPHKIT_SOFT_CUDA"):
        pytest.skip("no software device here")
    return Graph()


@pytest.mark.parametrize("lacks", ["", "cuGraphNodeGetParams"])  # before CUDA 13.2
def test_kernels_have_names_grids_and_edges_their_data(graph, monkeypatch, lacks):
    has = _graph_nodes.Driver.function
    monkeypatch.setattr(_graph_nodes.Driver, "function", lambda self, name: None if name == lacks else has(self, name))
    first = graph.kernel(b"first", (4, 2, 1), 0)
    join = graph.empty(first)
    second = graph.kernel(b"second", (8, 1, 1), 256, join)
    last = graph.kernel(b"first", (1, 1, 1), 0)
    graph.programmatic(second, last)
    nodes = graph.nodes()
    assert nodes.nodes() == [{"kind": "kernel", "name": "first", "grid": [4, 2, 1], "block": [64, 1, 1], "shared": 0}, {"kind": "empty"},
                             {"kind": "kernel", "name": "second", "grid": [8, 1, 1], "block": [64, 1, 1], "shared": 256},
                             {"kind": "kernel", "name": "first", "grid": [1, 1, 1], "block": [64, 1, 1], "shared": 0}]
    assert sorted(nodes.edges()) == [(0, 1, {}), (1, 2, {}), (2, 3, {"from_port": 1, "edge_type": 1})]
    assert len(nodes.numbers()) == len(set(nodes.numbers())) == 4
    assert nodes.exec_id is not None


def test_an_empty_graph_has_no_nodes(graph):
    nodes = graph.nodes()
    assert (len(nodes), nodes.nodes(), nodes.edges()) == (0, [], [])


def test_an_older_driver_has_no_ids(graph, monkeypatch):
    graph.kernel(b"first", (1, 1, 1), 0)
    has = _graph_nodes.Driver.function
    monkeypatch.setattr(_graph_nodes.Driver, "function", lambda self, name: None if name == "cuGraphNodeGetToolsId" else has(self, name))
    nodes = graph.nodes()
    assert (len(nodes), nodes.exec_id) == (1, None)


def test_an_error_names_the_function(graph):
    with pytest.raises(RuntimeError, match="cuGraphGetNodes returned"):
        _graph_nodes.GraphNodes(_graph_nodes.Driver(), 0, 0)
