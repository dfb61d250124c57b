"""A trace's columns as numpy structured arrays, and as dicts that pandas takes."""

from __future__ import annotations

import functools
import os
from typing import Any, Iterable, Union

import numpy as np

from . import _native
from ._findings import findings_of

Path = Union[str, "os.PathLike[str]"]

# Words that aren't those of the trace file.
WORDS = {
    ("edges", "type"): ["full", "programmatic"],
    ("accesses", "mode"): ["unknown", "read", "write", "read_write"],
}


class Trace:
    """Everything recorded of one process. Tables are read-only arrays, made at their first use.

    In all tables an id is an index, -1 is none; places (`seq`, `created`, `allocated`, …) are numbers of records in the
    order of the API calls, -1 is never; sizes are bytes; `…_ns` of blocks are nanoseconds since 1970, 0 is unknown.
    """

    def __init__(self, loaded: _native.Loaded, path: str):
        self._loaded = loaded
        self._tables: dict[str, np.ndarray] = {}
        self._words: dict[tuple[str, str], list[str]] = dict(WORDS)
        self.path = path

    def __repr__(self) -> str:
        return f"<cudagraphkit.Trace {self.path}: {len(self.graphs)} graphs, {len(self.nodes)} nodes, {len(self.blocks)} blocks>"

    @property
    def device(self) -> str:
        """"cuda", "soft" (simulated) or "imported"."""
        return self._loaded.process["device"]

    @property
    def program(self) -> list[str]:
        """The program and its arguments."""
        process = self._loaded.process
        return [process["program"], *process["arguments"]]

    @property
    def pid(self) -> int:
        return self._loaded.process["pid"]

    @property
    def environment(self) -> dict[str, str]:
        """The variables that change what CUDA, NCCL and PyTorch do with memory, of those that were set."""
        return dict(line.split("=", 1) for line in self._loaded.process["environment"])

    @property
    def complete(self) -> bool:
        """True if the trace holds everything that happened."""
        return not self.missing

    @property
    def missing(self) -> list[str]:
        """Why it isn't complete, a sentence each."""
        return self._loaded.process["missing"]

    def table(self, name: str) -> np.ndarray:
        if name not in self._tables:
            columns, rows, words = self._loaded.table(name)
            self._words.update({(name, column): listed for column, listed in words})
            self._tables[name] = np.frombuffer(rows, dtype=[tuple(column.split(":")) for column in columns])
        return self._tables[name]

    @property
    def graphs(self) -> np.ndarray:
        """One row a graph."""
        return self.table("graphs")

    @property
    def nodes(self) -> np.ndarray:
        """One row a node."""
        return self.table("nodes")

    @property
    def edges(self) -> np.ndarray:
        """One row an edge."""
        return self.table("edges")

    @property
    def accesses(self) -> np.ndarray:
        """The blocks that each node touches."""
        return self.table("accesses")

    @property
    def blocks(self) -> np.ndarray:
        """One row an allocation, those of the driver that segments are made of included."""
        return self.table("blocks")

    @property
    def handed_out(self) -> np.ndarray:
        """The rows of `blocks` that aren't a segment's memory: no byte is in two that are live at once."""
        return self.blocks[~np.isin(self.blocks["id"], self.segments["block"])]

    @property
    def segments(self) -> np.ndarray:
        """An allocator's memory from the driver."""
        return self.table("segments")

    @property
    def pools(self) -> np.ndarray:
        """Where blocks may be reused."""
        return self.table("pools")

    @property
    def execs(self) -> np.ndarray:
        """Instantiated graphs."""
        return self.table("execs")

    @property
    def launches(self) -> np.ndarray:
        """Replays."""
        return self.table("launches")

    @functools.cached_property
    def findings(self) -> np.ndarray:
        """The findings of `analyze`: check, severity, place, count, bytes, graph, message, advice, also."""
        return findings_of(self._loaded.analyze([], 0, False)["findings"])

    @functools.cached_property
    def graph_names(self) -> list[str]:
        return self._loaded.ask("graph_names")

    @functools.cached_property
    def kernel_names(self) -> list[str]:
        return self._loaded.ask("kernel_names")

    @functools.cached_property
    def stacks(self) -> list[list[tuple[str, str]]]:
        """Frames as (function, "file:line"), the innermost first; by the `stack` of blocks and nodes."""
        return [[(function, place) for function, place in frames] for frames in self._loaded.ask("stacks")]

    @functools.cached_property
    def places(self) -> list[str]:
        """The program's line of each stack and PyTorch's operation, "model.py:39 softmax"; by the `stack` of blocks and nodes."""
        return self._loaded.ask("places")

    def to_dict(self, name: str) -> dict[str, Any]:
        """A table by columns, kinds as words: pandas.DataFrame(trace.to_dict("blocks")). "findings" is one, too."""
        table = self.findings if name == "findings" else self.table(name)
        columns: dict[str, Any] = {}
        for column in table.dtype.names or ():
            words = self._words.get((name, column))
            columns[column] = [words[v] if v < len(words) else "unknown" for v in table[column]] if words else table[column]
        if name == "graphs":
            columns["name"] = self.graph_names
        if name == "nodes":
            columns["kernel_name"] = [self.kernel_names[k] if k >= 0 else "" for k in table["kernel"]]
        return columns

    def save(self, path: Path) -> None:
        """Writes it as a trace; .zst compresses."""
        self._loaded.save(os.fspath(path))


def load(path: Path, kind: str = "") -> Trace:
    """Reads a trace, or another tool's file: what `graphkit import` reads. `kind` says which; without it, its bytes do."""
    return Trace(_native.Loaded([os.fspath(path)], kind), os.fspath(path))


def merge(paths: Iterable[Path]) -> Trace:
    """Joins several files of one process, as `graphkit import` does."""
    names = [os.fspath(path) for path in paths]
    return Trace(_native.Loaded(names), " + ".join(names))
