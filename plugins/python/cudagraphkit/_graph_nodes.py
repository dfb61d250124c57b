"""The nodes and edges of a CUDA graph, asked of the driver through ctypes.

PyTorch's CUDAGraph.get_graph_data answers the same, through cuda.bindings, in some 8 µs a node while a capture waits. Here the driver
writes into arrays of C, one call a node and question, and nothing is made of them before the trace is written.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any, Iterable, Optional

# CUgraphNodeType, by the names of the trace (docs/format.md)
KINDS = ("kernel", "memcpy", "memset", "host", "graph", "empty", "event_wait", "event_record", "semaphore_signal", "semaphore_wait",
         "mem_alloc", "mem_free", "batch_mem_op", "conditional")
KERNEL = KINDS.index("kernel")


class _KernelParams(ctypes.Structure):
    """CUDA_KERNEL_NODE_PARAMS_v2 of cuda.h."""

    _fields_ = [("func", ctypes.c_void_p), ("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint),
                ("params", ctypes.c_void_p), ("extra", ctypes.c_void_p), ("kern", ctypes.c_void_p), ("ctx", ctypes.c_void_p)]


class _NodeParams(ctypes.Structure):
    """CUgraphNodeParams of cuda.h, with the member of kernels."""

    _fields_ = [("kind", ctypes.c_int), ("reserved", ctypes.c_int * 3), ("kernel", _KernelParams), ("others", ctypes.c_ubyte * 160),
                ("reserved2", ctypes.c_longlong)]


class _EdgeData(ctypes.Structure):
    """CUgraphEdgeData of cuda.h."""

    _fields_ = [("from_port", ctypes.c_ubyte), ("to_port", ctypes.c_ubyte), ("edge_type", ctypes.c_ubyte), ("reserved", ctypes.c_ubyte * 5)]


def _column(params: Any, offset: int, kind: str) -> list[int]:
    """A field of each node's parameters; `kind`: as struct has it."""
    size = ctypes.sizeof(ctypes.c_int if kind == "i" else ctypes.c_void_p)
    return memoryview(params).cast("B").cast(kind)[offset // size::ctypes.sizeof(_NodeParams) // size].tolist() if len(params) else []


class Driver:
    """The functions of libcuda.so.1, which is in the process. Those that an older driver lacks are None."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL("libcuda.so.1")

    @functools.lru_cache(maxsize=None)
    def function(self, name: str) -> Any:
        function = getattr(self._library, name, None)
        if function is not None:
            function.argtypes = [ctypes.c_void_p] * (5 if name == "cuGraphGetEdges_v2" else 4 if name == "cuGraphGetEdges" else
                                                     3 if name == "cuGraphGetNodes" else 2)
        return function

    def call(self, name: str, *arguments: Any) -> None:
        error = self.function(name)(*arguments)
        if error:
            raise RuntimeError(f"{name} returned {error}")

    def each(self, name: str, *arguments: Iterable[int]) -> None:
        """Calls it with the first of all arguments, then with the second of all, and so on."""
        if any(map(self.function(name), *arguments)):
            raise RuntimeError(f"{name} returned an error")

    def names(self, name: str, handles: list[int]) -> dict[int, bytes]:
        """By handle: its name. These functions write to their first argument."""
        names = (ctypes.c_char_p * len(handles))()
        self.each(name, _places(names), handles)
        return dict(zip(handles, names[:]))


def _places(array: Any) -> range:
    """Where its elements are."""
    size, begin = ctypes.sizeof(array._type_), ctypes.addressof(array)
    return range(begin, begin + size * len(array), size)


class GraphNodes:
    """What a graph had in it when this was made. Raises RuntimeError when the driver refuses an answer."""

    def __init__(self, driver: Driver, graph: int, executable: int):
        count = ctypes.c_size_t()
        driver.call("cuGraphGetNodes", graph, None, ctypes.byref(count))
        nodes = (ctypes.c_void_p * count.value)()
        driver.call("cuGraphGetNodes", graph, nodes, ctypes.byref(count))
        self.handles: list[int] = nodes[:]
        self._params = (_NodeParams * count.value)()
        self._ask_params(driver)
        self._ask_names(driver)
        self._ask_ids(driver, executable)
        self._ask_edges(driver, graph)

    def __len__(self) -> int:
        return len(self.handles)

    def _ask_params(self, driver: Driver) -> None:
        places = _places(self._params)
        if driver.function("cuGraphNodeGetParams"):  # since CUDA 13.2
            driver.each("cuGraphNodeGetParams", self.handles, places)
            self._kinds = _column(self._params, _NodeParams.kind.offset, "i")
            return
        driver.each("cuGraphNodeGetType", self.handles, places)
        self._kinds = _column(self._params, _NodeParams.kind.offset, "i")
        kernels = [(handle, place + _NodeParams.kernel.offset) for handle, place, kind in zip(self.handles, places, self._kinds) if kind == KERNEL]
        driver.each("cuGraphKernelNodeGetParams_v2", *zip(*kernels)) if kernels else None

    def _ask_names(self, driver: Driver) -> None:
        """A kernel has a function, or else a handle that stands for it in every context."""
        def handles(field: Any) -> list[int]:
            found = _column(self._params, _NodeParams.kernel.offset + field.offset, "Q")
            return [handle for handle, kind in zip(found, self._kinds) if kind == KERNEL]

        self._functions = handles(_KernelParams.func)
        self._names = driver.names("cuFuncGetName", list(set(self._functions) - {0}))
        if 0 in self._functions:
            kernels = handles(_KernelParams.kern)
            self._names |= driver.names("cuKernelGetName", list(set(kernels) - {0}))
            self._functions = [function or kernel for function, kernel in zip(self._functions, kernels)]

    def _ask_ids(self, driver: Driver, executable: int) -> None:
        """The ids that profilers use, of the executable and of its nodes; a driver before CUDA 13.1 has none."""
        self.exec_id: Optional[int] = None
        self._ids = (ctypes.c_uint64 * len(self))()
        if driver.function("cuGraphNodeGetToolsId") is None or driver.function("cuGraphExecGetId") is None:
            return
        number = ctypes.c_uint()
        driver.call("cuGraphExecGetId", executable, ctypes.byref(number))
        driver.each("cuGraphNodeGetToolsId", self.handles, _places(self._ids))
        self.exec_id = number.value

    def _ask_edges(self, driver: Driver, graph: int) -> None:
        name = "cuGraphGetEdges_v2" if driver.function("cuGraphGetEdges_v2") else "cuGraphGetEdges"  # since CUDA 12.3
        data = name.endswith("_v2")
        count = ctypes.c_size_t()
        driver.call(name, graph, None, None, *([None] if data else []), ctypes.byref(count))
        self._from, self._to = (ctypes.c_void_p * count.value)(), (ctypes.c_void_p * count.value)()
        self._data = (_EdgeData * count.value)()
        if count.value:
            driver.call(name, graph, self._from, self._to, *([self._data] if data else []), ctypes.byref(count))

    def numbers(self) -> list[int]:
        """By node: its number in the executable."""
        return [tools_id & 0xFFFFFFFF for tools_id in self._ids]

    def nodes(self) -> list[dict[str, Any]]:
        """By node: `kind`; of a kernel its `name`, `grid`, `block` and `shared` bytes."""
        found: list[dict[str, Any]] = [{"kind": KINDS[kind] if kind < len(KINDS) else "unknown"} for kind in self._kinds]
        kernels = [(node, params.kernel) for node, params, kind in zip(found, self._params, self._kinds) if kind == KERNEL]
        for (node, params), function in zip(kernels, self._functions):
            name = self._names.get(function, b"").decode(errors="replace")
            node.update(name=name, grid=params.grid[:], block=params.block[:], shared=params.shared)
        return found

    def edges(self) -> list[tuple[int, int, dict[str, int]]]:
        """From and to, as places in nodes(), and what isn't 0 of the edge's data."""
        places = {handle: place for place, handle in enumerate(self.handles)}
        fields = ("from_port", "to_port", "edge_type")
        return [(places[begin], places[end], {field: getattr(data, field) for field in fields if getattr(data, field)})
                for begin, end, data in zip(self._from, self._to, self._data)]
