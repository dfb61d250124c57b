"""`%%graphkit`: a notebook's cell with the memory that PyTorch allocates in it."""

from __future__ import annotations

import argparse
import pickle
import pathlib
import shlex
import time
from typing import Any, Callable, NoReturn

from . import _tracing
from ._answers import Page, report
from ._native import format_size


def _rename_cells(content: Any, title: Callable[[str], str], seen: set[int]) -> None:
    """Files of cells become "In[2]", as the notebook shows them, in all frames of PyTorch's snapshot."""
    if id(content) in seen or not isinstance(content, (dict, list)):
        return
    seen.add(id(content))
    if isinstance(content, dict) and isinstance(content.get("filename"), str):
        content["filename"] = title(content["filename"])
    for part in content.values() if isinstance(content, dict) else content:
        _rename_cells(part, title, seen)


def _only(snapshot: pathlib.Path, begin_ns: int, end_ns: int, title: Callable[[str], str]) -> None:
    """Leaves the events of that time in PyTorch's snapshot: what is older counts as allocated before the recording."""
    with snapshot.open("rb") as file:
        content = pickle.load(file)  # just written by this process
    content["device_traces"] = [
        [event for event in events if begin_ns <= event.get("time_us", 0) * 1000 + 999 and event.get("time_us", 0) * 1000 <= end_ns]
        for events in content["device_traces"]]
    _rename_cells(content, title, set())
    with snapshot.open("wb") as file:
        pickle.dump(content, file)


class CellRecording(_tracing.Recording):
    """A recording that keeps what happened inside of it only."""

    def _keep(self, snapshot: str, end: int) -> None:
        _only(pathlib.Path(snapshot), self._begin, end, _cell_title)


def _cell_title(file: str) -> str:
    """"In[2]" of a cell's file; any other file as it is."""
    from IPython import get_ipython

    named = getattr(get_ipython().compile, "format_code_name", lambda _: None)(file)
    return named[1] if named else file


class _Options(argparse.ArgumentParser):
    """Errors are one line in the notebook."""

    def error(self, message: str) -> NoReturn:
        from IPython.core.error import UsageError

        raise UsageError(f"%%graphkit: {message}; it takes -o FILE and --height PIXELS")


def run_cell(line: str, cell: str) -> Any:
    """%%graphkit [-o FILE] [--height PIXELS]: runs the cell and shows the memory that PyTorch allocated in it, also of one that
    raised."""
    from IPython import get_ipython
    from IPython.display import display

    parser = _Options(prog="%%graphkit", description=run_cell.__doc__, add_help=False)
    parser.add_argument("-o", "--output", help="also write the page to FILE")
    parser.add_argument("--height", type=int, default=720)
    options = parser.parse_args(shlex.split(line))
    started = time.monotonic()
    with CellRecording(None) as recording:
        done = get_ipython().run_cell("# %%graphkit\n" + cell)  # lines count from that of the magic
    seconds = time.monotonic() - started
    print(f"peak of this cell's memory {format_size(recording.peak_bytes)}, deferred {format_size(recording.deferred_bytes)}, "
          f"still in use {format_size(recording.leaked_bytes)} in {recording.leaked_blocks} blocks; {seconds:.1f} s"
          + ("" if done.success else "; the cell raised"))
    if recording.at_peak is not None and len(recording.at_peak):
        print(f"at the peak: {recording.lines_of(recording.at_peak)}")
    page: Page = report(recording.trace, options.output, options.height)
    display(page)


def load_ipython_extension(shell: Any) -> None:
    """%load_ext cudagraphkit"""
    shell.register_magic_function(run_cell, "cell", "graphkit")
