"""`%%graphkit`: a notebook's cell with the memory that PyTorch allocates in it."""

from __future__ import annotations

import argparse
import pickle
import pathlib
import time
from typing import Any

from . import _tracing
from ._answers import Page, report
from ._native import format_size


def _only(snapshot: pathlib.Path, begin_ns: int, end_ns: int) -> None:
    """Leaves the events of that time in PyTorch's snapshot: what is older counts as allocated before the recording."""
    with snapshot.open("rb") as file:
        content = pickle.load(file)  # just written by this process
    content["device_traces"] = [
        [event for event in events if begin_ns <= event.get("time_us", 0) * 1000 + 999 and event.get("time_us", 0) * 1000 <= end_ns]
        for events in content["device_traces"]]
    with snapshot.open("wb") as file:
        pickle.dump(content, file)


class CellRecording(_tracing.Recording):
    """A recording that keeps what happened inside of it only."""

    def _keep(self, snapshot: str, end: int) -> None:
        _only(pathlib.Path(snapshot), self._begin, end)


def run_cell(line: str, cell: str) -> Any:
    """%%graphkit [-o FILE] [--height PIXELS]: runs the cell and shows the memory that PyTorch allocated in it."""
    from IPython import get_ipython
    from IPython.display import display

    parser = argparse.ArgumentParser(prog="%%graphkit", description=run_cell.__doc__, add_help=False, exit_on_error=False)
    parser.add_argument("-o", "--output", help="also write the page to FILE")
    parser.add_argument("--height", type=int, default=720)
    options = parser.parse_args(line.split())
    started = time.monotonic()
    with CellRecording(None) as recording:
        done = get_ipython().run_cell(cell)
    if not done.success:
        return
    seconds = time.monotonic() - started
    print(f"peak of this cell's memory {format_size(recording.peak_bytes)}, deferred {format_size(recording.deferred_bytes)}, "
          f"still in use {format_size(recording.leaked_bytes)} in {recording.leaked_blocks} blocks; {seconds:.1f} s")
    page: Page = report(recording.trace, options.output, options.height)
    display(page)


def load_ipython_extension(shell: Any) -> None:
    """%load_ext cudagraphkit"""
    shell.register_magic_function(run_cell, "cell", "graphkit")
