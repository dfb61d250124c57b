"""The nodes and edges of a CUDA graph, asked of the driver through ctypes.

PyTorch's CUDAGraph.get_graph_data answers the same, through cuda.bindings, in some 8 µs a node while a capture waits. Here the driver
writes into arrays of C, one call a node and question, and nothing is made of them before the trace is written.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any, Callable, Optional

# CUgraphNodeType, by the names of the trace (docs/format.md)
KINDS = ("kernel", "memcpy", "memset", "host", "graph", "empty", "event_wait", "event_record", "semaphore_signal", "semaphore_wait",
         "mem_alloc", "mem_free", "batch_mem_op", "conditional")
KERNEL = KINDS.index("kernel")


class _KernelParams(ctypes.Structure):
    """CUDA_KERNEL_NODE_PARAMS_v2 of cuda.h."""

    _fields_ = [("func", ctypes.c_void_p), ("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint),
                ("params", ctypes.c_void_p), ("extra", ctypes.c_void_p), ("kern", ctypes.c_void_p), ("ctx", ctypes.c_void_p)]


class _EdgeData(ctypes.Structure):
    """CUgraphEdgeData of cuda.h."""

    _fields_ = [("from_port", ctypes.c_ubyte), ("to_port", ctypes.c_ubyte), ("edge_type", ctypes.c_ubyte), ("reserved", ctypes.c_ubyte * 5)]


def _handles(params: Any, field: str) -> list[int]:
    """A field of each kernel's parameters that is a handle."""
    place, words = getattr(_KernelParams, field).offset // 8, ctypes.sizeof(_KernelParams) // 8
    return memoryview(params).cast("B").cast("Q")[place::words].tolist() if len(params) else []


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

    def each(self, name: str, handles: list[int], answers: Any) -> None:
        """Asks for each handle; the answers are an array's elements."""
        self._each(name, answers, len(handles), lambda at: (handles, at))

    def names(self, name: str, handles: list[int]) -> dict[int, bytes]:
        """By handle: its name. These functions write to their first argument."""
        names = (ctypes.c_char_p * len(handles))()
        self._each(name, names, len(handles), lambda at: (at, handles))
        return dict(zip(handles, names[:]))

    def _each(self, name: str, answers: Any, count: int, arguments: Callable[[Any], tuple[Any, Any]]) -> None:
        size, begin = ctypes.sizeof(answers._type_), ctypes.addressof(answers)
        if any(map(self.function(name), *arguments(range(begin, begin + size * count, size)))):
            raise RuntimeError(f"{name} returned an error")


class GraphNodes:
    """What a graph had in it when this was made. Raises RuntimeError when the driver refuses an answer."""

    def __init__(self, driver: Driver, graph: int, executable: int):
        count = ctypes.c_size_t()
        driver.call("cuGraphGetNodes", graph, None, ctypes.byref(count))
        nodes = (ctypes.c_void_p * count.value)()
        driver.call("cuGraphGetNodes", graph, nodes, ctypes.byref(count))
        self.handles: list[int] = nodes[:]
        self._types = (ctypes.c_int * count.value)()
        driver.each("cuGraphNodeGetType", self.handles, self._types)
        kernels = [handle for handle, kind in zip(self.handles, self._types[:]) if kind == KERNEL]
        self._params = (_KernelParams * len(kernels))()
        driver.each("cuGraphKernelNodeGetParams_v2", kernels, self._params)
        self._ask_names(driver)
        self._ask_ids(driver, executable)
        self._ask_edges(driver, graph)

    def __len__(self) -> int:
        return len(self.handles)

    def _ask_names(self, driver: Driver) -> None:
        """A kernel has a function, or else a handle that stands for it in every context."""
        self._functions = _handles(self._params, "func")
        self._names = driver.names("cuFuncGetName", list(set(self._functions) - {0}))
        if 0 in self._functions:
            kernels = _handles(self._params, "kern")
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
        driver.each("cuGraphNodeGetToolsId", self.handles, self._ids)
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
        found: list[dict[str, Any]] = [{"kind": KINDS[kind] if kind < len(KINDS) else "unknown"} for kind in self._types]
        kernels = (node for node, kind in zip(found, self._types) if kind == KERNEL)
        for node, params, function in zip(kernels, self._params, self._functions):
            node.update(name=self._names.get(function, b"").decode(errors="replace"), grid=params.grid[:], block=params.block[:], shared=params.shared)
        return found

    def edges(self) -> list[tuple[int, int, dict[str, int]]]:
        """From and to, as places in nodes(), and what isn't 0 of the edge's data."""
        places = {handle: place for place, handle in enumerate(self.handles)}
        fields = ("from_port", "to_port", "edge_type")
        return [(places[begin], places[end], {field: getattr(data, field) for field in fields if getattr(data, field)})
                for begin, end, data in zip(self._from, self._to, self._data)]
