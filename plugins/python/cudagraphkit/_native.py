"""The part that is written in C++: libgraphkit_python.so, called through ctypes, without the interpreter's lock."""

from __future__ import annotations

import ctypes
import json
import os
import pathlib
from typing import Any, Optional


class Error(ValueError):
    """A file that can't be read, or a question that can't be answered; one line says why."""


class _Answer(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_uint64), ("failed", ctypes.c_int32)]


def _declared(library: ctypes.CDLL) -> ctypes.CDLL:
    answer, trace, text = ctypes.POINTER(_Answer), ctypes.c_void_p, ctypes.c_char_p
    for name, result, arguments in [
        ("load", trace, [ctypes.POINTER(text), ctypes.c_uint64, text, answer]),
        ("unload", None, [trace]),
        ("save", None, [trace, text, answer]),
        ("ask", None, [trace, text, answer]),
        ("parse_size", None, [text, answer]),
        ("format_size", None, [ctypes.c_uint64, answer]),
        ("free", None, [ctypes.c_void_p]),
    ]:
        function = getattr(library, f"graphkit_{name}")
        function.restype, function.argtypes = result, arguments
    return library


_LIBRARY = _declared(ctypes.CDLL(str(pathlib.Path(__file__).resolve().parent / "libgraphkit_python.so")))


def _call(name: str, *arguments: Any) -> tuple[bytes, Any]:
    """The answer of a function that gives one, and what it returned."""
    answer = _Answer()
    returned = getattr(_LIBRARY, f"graphkit_{name}")(*arguments, ctypes.byref(answer))
    data = ctypes.string_at(answer.data, answer.size) if answer.data else b"out of memory"
    _LIBRARY.graphkit_free(answer.data)
    if answer.failed:
        raise Error(data.decode(errors="replace"))
    return data, returned


class Loaded:
    """A trace in memory, that C++ owns."""

    def __init__(self, paths: list[str], kind: str = ""):
        self._trace = None
        names = (ctypes.c_char_p * len(paths))(*map(os.fsencode, paths))
        self._trace = _call("load", names, len(paths), kind.encode())[1]
        self.process: dict[str, Any] = self.ask("process")

    def __del__(self, unload: Any = _LIBRARY.graphkit_unload) -> None:
        """When the interpreter ends, the names of this module may be gone: the function is kept here."""
        if self._trace:
            unload(self._trace)

    def _ask(self, about: str, **details: Any) -> bytes:
        return _call("ask", self._trace, json.dumps({"about": about, **details}).encode())[0]

    def ask(self, about: str, **details: Any) -> Any:
        return json.loads(self._ask(about, **details))

    def table(self, name: str) -> tuple[list[str], memoryview, list[tuple[str, list[str]]]]:
        """Its columns as "name:type", its rows, and the words that numbers of a column stand for."""
        answer = self._ask("table", name=name)
        end = answer.index(b"\n") + 1
        header = json.loads(answer[:end])
        return header["columns"], memoryview(answer)[end:], header["words"]

    def save(self, path: str) -> None:
        _call("save", self._trace, os.fsencode(path))

    def analyze(self, checks: list[str], min_bytes: int, launch_edges: bool) -> Any:
        return self.ask("analyze", checks=checks, min_bytes=min_bytes, launch_edges=launch_edges)

    def plan(self, torch_streams: bool, capacity: Optional[int], effort: Optional[int]) -> Any:
        return self.ask("plan", torch_streams=torch_streams, capacity=capacity, effort=effort)

    def estimate(self, sizes: list[int], captured: list[int], exec_costs: str) -> Any:
        return self.ask("estimate", sizes=sizes, captured=captured, exec_costs=exec_costs)


def parse_size(text: str) -> int:
    return int(_call("parse_size", text.encode())[0])


def format_size(size: int) -> str:
    return _call("format_size", size)[0].decode()
