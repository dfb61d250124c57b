"""Ranges, as a list of calls; and as NVTX's where FAKE_TORCH_NVTX names the library that calls it."""

import ctypes
import os

calls = []
_library = ctypes.CDLL(os.environ["FAKE_TORCH_NVTX"]) if "FAKE_TORCH_NVTX" in os.environ else None


def range_push(name):
    calls.append(f"push {name}")
    if _library:
        _library.fake_range_push(name.encode())


def range_pop():
    calls.append("pop")
    if _library:
        _library.fake_range_pop()
