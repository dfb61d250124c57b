"""graphkit's allocator as PyTorch's: memory that crossed streams is reused inside of captures.

    from cudagraphkit import torch_allocator
    torch_allocator.enable()            # before anything uses CUDA

Needs PyTorch 2.3 or later; nothing else of graphkit. docs/pytorch.md.
"""

from __future__ import annotations

import ctypes
import gc
import os
import pathlib
import shutil
import sys
from typing import Any, Optional, Union

LIBRARY = "libgraphkit_torch_allocator.so"
Path = Union[str, "os.PathLike[str]"]

# The hooks that PyTorch can be given, by the names that CUDAPluggableAllocator has for them; not all versions have all.
HOOKS = {
    "set_init_fn": "graphkit_allocator_init",
    "set_reset_fn": "graphkit_allocator_empty_cache",
    "set_memory_fraction_fn": "graphkit_allocator_memory_fraction",
    "set_base_alloc_fn": "graphkit_allocator_base",
    "set_record_stream_fn": "graphkit_allocator_record_stream",
    "set_begin_allocate_to_pool": "graphkit_torch_begin_pool",
    "set_end_allocate_to_pool_fn": "graphkit_torch_end_pool",
    "set_release_pool": "graphkit_torch_release_pool",
}
NEEDED = ("set_record_stream_fn", "set_begin_allocate_to_pool", "set_end_allocate_to_pool_fn", "set_release_pool")


class _Figures(ctypes.Structure):
    """graphkit_allocator_figures of graphkit_torch_allocator.h."""

    VERSION = 2
    _fields_ = [(name, ctypes.c_uint64) for name in (
        "mallocs", "frees", "record_streams", "out_of_memory", "allocated", "peak_allocated", "reserved",
        "peak_reserved", "captures", "captured_mallocs", "proved_frees", "deferred_frees", "deferred_bytes", "planned",
        "plan_departures", "plan_refusals", "plan_unused", "borrowed", "peak_borrowed")]


class _PoolKey(ctypes.Structure):
    """graphkit_allocator_pool."""

    _fields_ = [("first", ctypes.c_uint64), ("second", ctypes.c_uint64)]


class _LentBlock(ctypes.Structure):
    """graphkit_lent_block."""

    _fields_ = [("pointer", ctypes.c_void_p), ("size", ctypes.c_uint64)]


_ON_LENT = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t)


class _Pool:
    """The work that launches of a pool's graphs, and borrowers of its memory, have to wait for."""

    def __init__(self) -> None:
        self.streams: dict[int, Any] = {}  # that graphs of it were launched on
        self.borrowed: Optional["borrow"] = None
        self.returned: Any = None  # an event: the last return
        self.ordered: set[int] = set()  # streams that come after it

    def come_after_return(self, stream: Any) -> None:
        if self.returned is not None and stream.cuda_stream not in self.ordered:
            stream.wait_event(self.returned)
            self.ordered.add(stream.cuda_stream)


class _State:
    library: Optional[ctypes.CDLL] = None
    allocator: Any = None  # lives as long as the process: PyTorch's blocks point to it
    pools: Optional[dict[tuple[int, int], _Pool]] = None  # None: borrowing isn't switched on
    lines: dict[int, str] = {}  # where lent blocks were allocated
    on_lent: Any = None


def library_path() -> str:
    """GRAPHKIT_TORCH_ALLOCATOR; what the package brings; or what lies beside the `graphkit` on PATH."""
    named = os.environ.get("GRAPHKIT_TORCH_ALLOCATOR")
    if named:
        return named
    places = [pathlib.Path(__file__).resolve().parent / "lib" / "graphkit"]
    command = shutil.which("graphkit")
    if command:
        places.append(pathlib.Path(command).resolve().parent.parent / "lib" / "graphkit")
    for place in places:
        if (place / LIBRARY).is_file():
            return str(place / LIBRARY)
    raise RuntimeError(f"{LIBRARY} isn't beside the graphkit command: name it in GRAPHKIT_TORCH_ALLOCATOR")


def _load(library: Optional[Path]) -> tuple[str, ctypes.CDLL]:
    path = os.fspath(library) if library is not None else library_path()
    _State.library = ctypes.CDLL(path)
    return path, _State.library


def _device_index(torch: Any, device: Any) -> int:
    if isinstance(device, str):
        device = torch.device(device)
    index = device if isinstance(device, int) else getattr(device, "index", None)
    return torch.cuda.current_device() if index is None else index


def _take_over_statistics(torch: Any) -> None:
    """torch.cuda.memory_allocated() and its like ask PyTorch's own allocator, which raises an error when it isn't in use."""

    def memory_stats_as_nested_dict(device: Any = None) -> dict[str, Any]:
        f = figures(_device_index(torch, device))
        blocks = {"current": f["mallocs"] - f["frees"], "allocated": f["mallocs"], "freed": f["frees"]}
        return {"allocation": {"all": blocks}, "num_alloc_retries": 0, "num_ooms": f["out_of_memory"],
                "allocated_bytes": {"all": {"current": f["allocated"], "peak": f["peak_allocated"]}},
                "reserved_bytes": {"all": {"current": f["reserved"], "peak": f["peak_reserved"]}}}

    def reset_peak_memory_stats(device: Any = None) -> None:
        reset_peaks(_device_index(torch, device))

    for replacement in (memory_stats_as_nested_dict, reset_peak_memory_stats):
        for module in (torch.cuda.memory, torch.cuda):
            if hasattr(module, replacement.__name__):
                setattr(module, replacement.__name__, replacement)


def _use_nccl_without_snapshots(torch: Any) -> None:
    """torch 2.15's "nccl" ends the process when it asks an allocator that isn't PyTorch's for a snapshot. The one before it,
    which TORCH_DIST_USE_NCCL2=0 selects, doesn't ask. A setting of the program's own stays."""
    if "TORCH_DIST_USE_NCCL2" in os.environ:
        return
    os.environ["TORCH_DIST_USE_NCCL2"] = "0"
    distributed = sys.modules.get("torch.distributed.distributed_c10d")
    register = getattr(distributed, "_register_builtin_nccl_backend", None)
    if register is not None and "NCCL" in getattr(distributed.Backend, "_plugins", {}):
        register()  # the setting came too late


def _caller() -> str:
    """The innermost frame that isn't PyTorch's or this file's: "train.py:12 step"."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if file != __file__ and f"{os.sep}torch{os.sep}" not in file:
            return f"{os.path.basename(file)}:{frame.f_lineno} {frame.f_code.co_name}"
        frame = frame.f_back
    return "an unknown line"


def _pools_of(graph: Any) -> list[tuple[int, int]]:
    pools = graph.pools() if hasattr(graph, "pools") else [graph.pool()]
    return [tuple(pool) for pool in pools]


def _watch_launches(torch: Any, functions: ctypes.CDLL) -> None:
    """No call tells an allocator that a graph is launched: CUDAGraph's methods do it from here on."""
    pools = _State.pools = {}
    replay, capture_begin = torch.cuda.CUDAGraph.replay, torch.cuda.CUDAGraph.capture_begin

    def watched_replay(self: Any) -> None:
        stream = torch.cuda.current_stream()
        for key in _pools_of(self):
            pool = pools.setdefault(key, _Pool())
            if pool.borrowed is not None:
                pool.borrowed.come_back_before(f"a graph of pool {key} is launched at {_caller()}")
            pool.come_after_return(stream)
            pool.streams[stream.cuda_stream] = stream
        replay(self)

    def watched_capture_begin(self: Any, *arguments: Any, **named: Any) -> None:
        for pool in pools.values():
            if pool.borrowed is not None:
                pool.borrowed.come_back_before(f"a capture begins at {_caller()}")
        capture_begin(self, *arguments, **named)

    def on_lent(pointer: int, _size: int) -> None:
        _State.lines[pointer] = _caller()

    torch.cuda.CUDAGraph.replay, torch.cuda.CUDAGraph.capture_begin = watched_replay, watched_capture_begin
    _State.on_lent = _ON_LENT(on_lent)
    functions.graphkit_allocator_on_lent(_State.on_lent)
    functions.graphkit_allocator_borrow.restype = ctypes.c_uint64
    functions.graphkit_allocator_return.restype = ctypes.c_size_t


class borrow:  # pylint: disable=invalid-name
    """Lends the memory that the graphs of a pool leave unused between two launches.

        with torch_allocator.borrow(graph):      # or a pool: graph.pool(), a MemPool
            scores = torch.empty(...)            # lies in the graph's memory
            ...
            del scores                           # freed before the end, and before the next launch
        graph.replay()

    What this thread allocates on the current stream lies there as long as it fits; anything else, and what other streams and
    threads allocate, lies where it always does. `bytes`: how much is lent, 0 where there is nothing. A block that isn't freed at
    the end raises a RuntimeError with its line, and so does a launch of a graph of the pool, or any capture, before that.
    Needs enable(borrow=True), and launches by torch.cuda.CUDAGraph.replay().
    """

    MOST_NAMED = 8

    def __init__(self, pool: Any) -> None:
        if isinstance(pool, tuple):
            self.key = (int(pool[0]), int(pool[1]))
        elif hasattr(pool, "replay"):
            self.key = _pools_of(pool)[0]
        else:
            self.key = tuple(pool.id)
        self.bytes = 0
        self.line = ""
        self.entered = False
        self._stream: Any = None
        self._device = 0
        self._pool: Any = None

    def __enter__(self) -> "borrow":
        import torch

        if _State.pools is None or _State.library is None:
            raise RuntimeError("borrowing isn't switched on: torch_allocator.enable(borrow=True), or GRAPHKIT_BORROW=1")
        if torch.cuda.is_current_stream_capturing():
            raise RuntimeError("memory can't be borrowed in a capture")
        self._pool = _State.pools.setdefault(self.key, _Pool())
        if self._pool.borrowed is not None:
            raise RuntimeError(f"pool {self.key} is borrowed already, at {self._pool.borrowed.line}")
        self._stream, self._device = torch.cuda.current_stream(), torch.cuda.current_device()
        for handle, stream in self._pool.streams.items():
            if handle != self._stream.cuda_stream:
                self._stream.wait_stream(stream)
        self._pool.come_after_return(self._stream)
        self.line = _caller()
        self.bytes = _State.library.graphkit_allocator_borrow(
            ctypes.c_int(self._device), _PoolKey(*self.key), ctypes.c_void_p(self._stream.cuda_stream))
        if self.bytes:
            self._pool.borrowed, self.entered = self, True
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        self.entered = False
        if not self.bytes:
            return
        late = self._give_back()
        if late:
            gc.collect()  # memory that only a cycle holds is as good as freed
            late = self._give_back()
        if late and kind is None:
            raise RuntimeError(f"memory of pool {self.key}, borrowed at {self.line}, isn't given back: {late}")

    def come_back_before(self, what: str) -> None:
        """Raises an error unless all is given back."""
        if self.entered:
            raise RuntimeError(f"{what} inside borrow(), which was entered at {self.line}: leave it first")
        late = self._give_back()
        if late:
            raise RuntimeError(f"{what} before memory of pool {self.key}, borrowed at {self.line}, is given back: {late}")

    def _give_back(self) -> str:
        """The blocks that are late, in words; none: the pool's launches come after all uses of it."""
        blocks = (_LentBlock * self.MOST_NAMED)()
        late = _State.library.graphkit_allocator_return(  # type: ignore[union-attr]
            ctypes.c_int(self._device), _PoolKey(*self.key), blocks, ctypes.c_size_t(self.MOST_NAMED))
        if late:
            names = [f"{block.size} bytes allocated at {_State.lines.get(block.pointer, 'an unknown line')}" if block.pointer
                     else "a stream that it was recorded on can't be waited for"
                     for block in blocks[:min(late, self.MOST_NAMED)]]
            return "; ".join(names) + (f"; and {late - len(names)} more blocks" if late > len(names) else "")
        pool = self._pool
        pool.borrowed = None
        pool.returned = self._stream.record_event()
        pool.ordered = {self._stream.cuda_stream}
        for stream in pool.streams.values():
            pool.come_after_return(stream)
        return ""


def enable(library: Optional[Path] = None, plan: Optional[Path] = None, report: Optional[Path] = None,
           borrow: Optional[bool] = None) -> Any:  # pylint: disable=redefined-outer-name
    """Makes it PyTorch's allocator for this process; before anything uses CUDA. Returns PyTorch's object.

    `plan`: place the blocks of captures as this plan says (GRAPHKIT_PLAN); `report`: write figures there when the process
    ends (GRAPHKIT_ALLOCATOR_REPORT); `borrow`: watch launches, so that graphs' memory can be borrowed between them
    (GRAPHKIT_BORROW=1).
    """
    import torch

    if _State.allocator is not None:
        return _State.allocator
    for name, value in (("GRAPHKIT_PLAN", plan), ("GRAPHKIT_ALLOCATOR_REPORT", report)):
        if value is not None:
            os.environ[name] = os.path.abspath(os.fspath(value))
    path, functions = _load(library)
    allocator = torch.cuda.memory.CUDAPluggableAllocator(path, "graphkit_torch_malloc", "graphkit_allocator_free")
    hooks = allocator.allocator()
    missing = [name for name in NEEDED if not hasattr(hooks, name)]
    if missing:
        raise RuntimeError(f"torch {torch.__version__} has no {', '.join(missing)} for allocators: 2.3 or later has")
    for setter, name in HOOKS.items():
        if hasattr(hooks, setter):
            getattr(hooks, setter)(ctypes.cast(getattr(functions, name), ctypes.c_void_p).value)
    torch.cuda.memory.change_current_allocator(allocator)
    _take_over_statistics(torch)
    _use_nccl_without_snapshots(torch)
    if borrow if borrow is not None else os.environ.get("GRAPHKIT_BORROW") == "1":
        _watch_launches(torch, functions)
    _State.allocator = allocator
    return allocator


def mempool(library: Optional[Path] = None) -> Any:
    """A torch.cuda.MemPool whose segments come from here, named in traces; PyTorch places the blocks in it."""
    import torch

    path, _ = _load(library)
    allocator = torch.cuda.memory.CUDAPluggableAllocator(path, "graphkit_torch_segment_malloc",
                                                         "graphkit_torch_segment_free")
    pool = torch.cuda.MemPool(allocator.allocator())
    pool._graphkit_allocator = allocator  # it must outlive the pool
    return pool


def figures(device: int = 0) -> dict[str, int]:
    """Counters of a device since the process began; bytes as they are. All 0 before it was used."""
    found = _Figures()
    if _State.library is not None:
        _State.library.graphkit_allocator_figures_of(ctypes.c_int(device), ctypes.c_uint32(_Figures.VERSION),
                                                     ctypes.byref(found))
    return {name: getattr(found, name) for name, _ in _Figures._fields_}


def reset_peaks(device: int = 0) -> None:
    """Peaks are from here on."""
    if _State.library is not None:
        _State.library.graphkit_allocator_reset_peaks(ctypes.c_int(device))


def write_report(path: Path) -> None:
    """Writes the report of GRAPHKIT_ALLOCATOR_REPORT now, not at the end of the process."""
    if _State.library is None:
        raise RuntimeError("cudagraphkit.torch_allocator isn't enabled")
    if _State.library.graphkit_allocator_report(os.fsencode(os.fspath(path))):
        raise OSError(f"can't write {path}")
