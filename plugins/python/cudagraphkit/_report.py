"""The results of `graphkit analyze`, `graphkit plan` and `graphkit estimate` for a trace."""

from __future__ import annotations

import os
from typing import Any, Dict, Iterable, Optional, Union

import numpy as np

from . import _native
from ._findings import findings_of
from ._trace import Path, Trace, load


class Report(Dict[str, Any]):
    """The document that `graphkit analyze --format json` writes, and its findings as an array."""

    @property
    def findings(self) -> np.ndarray:
        return findings_of(self["findings"])

    def __repr__(self) -> str:
        totals = self["totals"]
        return (f"<cudagraphkit.Report {self['program'] or 'trace'}: {totals['graphs']} graphs, {totals['errors']} errors, "
                f"{totals['warnings']} warnings, {totals['notes']} notes>")


class Plan(Dict[str, Any]):
    """The document of `graphkit plan --format json`."""

    def __repr__(self) -> str:
        bound = "the proven minimum" if self["optimal"] else f"at least {_native.format_size(self['lower_bound_bytes'])} is needed"
        return (f"<cudagraphkit.Plan: {len(self['placements'])} blocks, peak {_native.format_size(self['peak_bytes'])}, "
                f"{bound}>")


class Estimate(Dict[str, Any]):
    """The document of `graphkit estimate --format json`."""

    def __repr__(self) -> str:
        pool = self["shared_pool"]["bytes"]
        memory = "" if pool is None else f", {_native.format_size(pool)} in a shared pool"
        return f"<cudagraphkit.Estimate: graphs of {len(self['sizes'])} sizes{memory}>"


def _trace_of(trace: Union[Trace, Path]) -> Trace:
    return trace if isinstance(trace, Trace) else load(trace)


def _size(size: Union[int, str]) -> int:
    return _native.parse_size(size) if isinstance(size, str) else size


def analyze(trace: Union[Trace, Path], checks: Iterable[str] = (), min_bytes: Union[int, str] = 0,
            edges: str = "strict") -> Report:
    """Memory of each graph, memory that could be shared, leaks and hazards.

    `checks`: ids of those to run, all without; `min_bytes`: a number or "1 MiB"; `edges`: "strict", or "pytorch" to take
    every edge for a full one.
    """
    if edges not in ("strict", "pytorch"):
        raise _native.Error(f"edges is 'strict' or 'pytorch', not '{edges}'")
    return Report(_trace_of(trace)._loaded.analyze(list(checks), _size(min_bytes), edges == "pytorch"))


def plan(trace: Union[Trace, Path], capacity: Union[int, str, None] = None, assume: str = "arguments",
         effort: Optional[int] = None) -> Plan:
    """Where blocks should lie, verified: the document of `graphkit plan --format json`.

    `assume`: "arguments" (kernels touch only blocks in their arguments), or "torch-streams" (blocks are used until their
    free, on their streams); `effort`: how much to search, 0: greedily only; if not given, the search ends when the plan
    fits into `capacity`.
    """
    if assume not in ("arguments", "torch-streams"):
        raise _native.Error(f"assume is 'arguments' or 'torch-streams', not '{assume}'")
    limit = None if capacity is None else _size(capacity)
    return Plan(_trace_of(trace)._loaded.plan(assume == "torch-streams", limit, effort))


def estimate(trace: Union[Trace, Path], sizes: Iterable[int], captured: Iterable[int] = (),
             exec_costs: Optional[Path] = None) -> Estimate:
    """Memory of graphs of these sizes, from captures of some: the document of `graphkit estimate --format json`.

    `captured`: the sizes that the trace's graphs were captured for, where names and blocks don't say; `exec_costs`: a
    trace recorded with `graphkit trace --measure-execs`, instead of the published figures for executables.
    """
    costs = "" if exec_costs is None else os.fspath(exec_costs)
    wanted, named = sorted({int(size) for size in sizes}), sorted({int(size) for size in captured})
    if min(wanted + named, default=1) < 1:
        raise _native.Error("a size is a number above 0")
    return Estimate(_trace_of(trace)._loaded.estimate(wanted, named, costs))
