"""cudagraphkit.trace(): PyTorch's memory history of some lines of a program, as a trace."""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
import time
from typing import Any, Optional

import numpy as np

from . import _native
from ._trace import Path, Trace, load

MAX_EVENTS = 5_000_000


class _History:
    """True while PyTorch's memory history is on, for all recordings of this process."""

    on = False


def _torch() -> Any:
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        raise _native.Error("cudagraphkit.trace() records PyTorch's memory, and there is no torch here") from None
    if torch.version.cuda is None:
        raise _native.Error(f"torch {torch.__version__} is built without CUDA: nothing to record")
    return torch


def _begin_history(torch: Any) -> None:
    """On to the end of the process: a history that begins anew would miss where older blocks came from."""
    if _History.on:
        return
    torch.cuda._lazy_init()
    if "_graphkit_torch_hook" not in sys.modules:  # `graphkit trace` records already
        torch.cuda.memory._record_memory_history("all", context="all", stacks="python", max_entries=MAX_EVENTS)
    _History.on = True


class Recording:
    """The result of a recording: figures of the lines inside of `with`, and the trace that they come from.

    All figures are of PyTorch's caching allocator, of blocks allocated inside.
    """

    peak_bytes: int = 0  #: most bytes in use at once
    deferred_bytes: int = 0  #: most bytes that were given back and could not be reused yet (record_stream, captures)
    leaked_bytes: int = 0  #: not given back at the end
    leaked_blocks: int = 0

    def __init__(self, path: Optional[Path]):
        self.path = None if path is None else os.fspath(path)
        self.trace: Optional[Trace] = None  #: set at the end
        self.leaked: Optional[np.ndarray] = None  #: rows of trace.blocks
        self.at_peak: Optional[np.ndarray] = None  #: rows of trace.blocks that were in use at the peak
        self._torch: Any = None
        self._begin = 0

    def __enter__(self) -> "Recording":
        self._torch = _torch()
        _begin_history(self._torch)
        self._begin = time.time_ns()
        return self

    def __exit__(self, *unused: object) -> None:
        end = time.time_ns()
        with tempfile.TemporaryDirectory() as folder:
            snapshot = os.path.join(folder, "snapshot.pickle")
            self._torch.cuda.memory._dump_snapshot(snapshot)
            self._keep(snapshot, end)
            self.trace = load(snapshot, "torch-snapshot")
        if self.path is not None:
            self.trace.save(self.path)
            self.trace.path = self.path
        self._measure(self.trace, end)

    def _keep(self, snapshot: str, end: int) -> None:
        """What of the snapshot becomes the trace: all of it."""

    def _measure(self, trace: Trace, end: int) -> None:
        blocks = trace.blocks
        begin = self._begin - 1000  # PyTorch counts microseconds
        mine = blocks[(blocks["segment"] >= 0) & (blocks["allocated_ns"] >= begin) & (blocks["allocated_ns"] <= end)]
        self.leaked = mine[mine["free_requested"] < 0]
        self.leaked_blocks, self.leaked_bytes = len(self.leaked), int(self.leaked["size"].sum())
        self.at_peak = _most(mine, "allocated", "free_requested")
        self.peak_bytes = int(self.at_peak["size"].sum())
        deferred = _most(mine[mine["free_requested"] >= 0], "free_requested", "free_completed", adjacent=1)
        self.deferred_bytes = int(deferred["size"].sum())

    def lines_of(self, blocks: Optional[np.ndarray], most: int = 3) -> str:
        """"2 MiB at model.py:39 softmax, …": the lines that allocated rows of trace.blocks, the most bytes first."""
        by_line: dict[str, int] = {}
        for row in blocks if blocks is not None else ():
            place = self.trace.places[row["stack"]] if self.trace and row["stack"] >= 0 else ""
            by_line[place or "no known line"] = by_line.get(place or "no known line", 0) + int(row["size"])
        lines = sorted(by_line.items(), key=lambda line: -line[1])[:most]
        return ", ".join(f"{_native.format_size(size)} at {place}" for place, size in lines)

    def __repr__(self) -> str:
        if self.trace is None:
            return "<cudagraphkit.Recording, not ended>"
        return f"<cudagraphkit.Recording: peak {_native.format_size(self.peak_bytes)}, {self.leaked_blocks} blocks leaked>"


def _most(blocks: np.ndarray, begin: str, end: str, adjacent: int = 0) -> np.ndarray:
    """Those with the most bytes at once, of blocks that last from one column to the other, and longer than `adjacent` places."""
    never = blocks[end] < 0
    lasting = blocks[never | (blocks[end] > blocks[begin] + adjacent)]
    ended = lasting[lasting[end] >= 0]
    places = np.concatenate([ended[end], lasting[begin]])  # of equal places ends come first
    sizes = np.concatenate([-ended["size"], lasting["size"]])
    if not len(places):
        return lasting
    order = np.argsort(places, kind="stable")
    peak = places[order[np.argmax(np.cumsum(sizes[order]))]]
    return lasting[(lasting[begin] <= peak) & ((lasting[end] < 0) | (lasting[end] > peak))]


def trace(path: Optional[Path] = None) -> Recording:
    """Records PyTorch's memory inside of `with cudagraphkit.trace() as recording:`, and writes it to `path` as a trace.

    PyTorch's memory history is switched on with it, with stacks, and stays on until the process ends: traces hold what
    came before, too, back to the first recording. What the graphs run isn't seen here; `graphkit trace` sees it.
    """
    return Recording(path)
