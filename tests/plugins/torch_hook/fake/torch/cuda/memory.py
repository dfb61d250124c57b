"""An allocator of one segment for each private pool and one for everything else, and its history."""

import collections
import ctypes
import functools
import os
import pickle
import sys
import time

from . import graphs, pluggable
from .pluggable import CUDAPluggableAllocator, change_current_allocator  # noqa: F401

SEGMENT = 64 << 20


@functools.cache
def library():
    return ctypes.CDLL(os.environ.get("FAKE_TORCH_CUDART", "libcudart.so.13"))


def check(code):
    if code:
        raise RuntimeError(f"CUDA error {code}")


class History:
    on = False
    context = None
    events = []


def _init():
    import torch

    torch.cuda._lazy_init()


def _frames(depth=3):
    frame, frames = sys._getframe(depth), []
    while frame:
        code = frame.f_code
        frames.append({"name": code.co_name, "filename": code.co_filename, "line": frame.f_lineno})
        frame = frame.f_back
    return frames


def _event(action, address, size, pool):
    if History.on:
        stacked = History.context == "all" or (History.context == "alloc" and action in ("alloc", "segment_alloc"))
        History.events.append({"action": action, "addr": address, "size": size, "stream": graphs.current_handle(),
                               "time_us": time.time_ns() // 1000, "segment_pool_id": pool, "frames": _frames() if stacked else []})


class Segment:
    def __init__(self, pool):
        address = ctypes.c_void_p()
        check(library().cudaMalloc(ctypes.byref(address), ctypes.c_size_t(SEGMENT)))
        self.address, self.pool, self.end, self.stream = address.value, pool, 0, graphs.current_handle()
        self.blocks = {}  # offset: (size, requested, frames)
        self.free = collections.defaultdict(list)
        _event("segment_alloc", self.address, SEGMENT, pool)


segments = {}


class Tensor:
    def __init__(self, size, device="cuda"):
        _init()
        pool = graphs.pool()
        if pool not in segments:
            segments[pool] = Segment(pool)
        self.segment, self.requested, self.size = segments[pool], size, -(-size // 512) * 512
        segment = self.segment
        if segment.free[self.size]:
            self.offset = segment.free[self.size].pop()
        else:
            self.offset, segment.end = segment.end, segment.end + self.size
        segment.blocks[self.offset] = (self.size, size, _frames(2))
        _event("alloc", self.data_ptr(), self.size, pool)

    def data_ptr(self):
        return self.segment.address + self.offset

    def zero_(self):
        check(library().cudaMemsetAsync(ctypes.c_void_p(self.data_ptr()), 0, ctypes.c_size_t(self.requested),
                                        ctypes.c_void_p(graphs.current_handle())))
        return self

    def __del__(self):
        if sys.is_finalizing() or not hasattr(self, "offset"):
            return
        for action in ("free_requested", "free_completed"):
            _event(action, self.data_ptr(), self.size, self.segment.pool)
        del self.segment.blocks[self.offset]
        self.segment.free[self.size].append(self.offset)


def get_allocator_backend():
    return "native" if pluggable.current is None else "pluggable"


def _record_memory_history(enabled="all", context="all", stacks="all", max_entries=sys.maxsize, device=None):
    _init()  # as PyTorch does
    if pluggable.current is not None:
        raise RuntimeError("CUDAPluggableAllocator does not yet support recordHistory.")
    assert enabled in (None, "state", "all") and context in (None, "state", "alloc", "all") and stacks in ("python", "all")
    if not enabled:
        History.events = []
    History.on = enabled == "all"
    History.context = context


def _blocks(segment):
    at, rows = 0, []

    def add(size, requested, frames, state):
        rows.append({"address": segment.address + at, "size": size, "requested_size": requested, "state": state,
                     "frames": frames})

    for offset, (size, requested, frames) in sorted(segment.blocks.items()):
        if offset > at:
            add(offset - at, 0, [], "inactive")
            at = offset
        add(size, requested, frames if History.on else [], "active_allocated")
        at += size
    if at < SEGMENT:
        add(SEGMENT - at, 0, [], "inactive")
    return rows


def _snapshot(device=None):
    rows = []
    for segment in segments.values():
        sizes = [(size, requested) for size, requested, _ in segment.blocks.values()]
        used = sum(size for size, _ in sizes)
        rows.append({"device": 0, "address": segment.address, "total_size": SEGMENT, "stream": segment.stream,
                     "segment_type": "large", "segment_pool_id": segment.pool, "is_expandable": False, "frames": [],
                     "allocated_size": used, "active_size": used, "requested_size": sum(r for _, r in sizes),
                     "blocks": _blocks(segment)})
    return {"segments": rows, "device_traces": [History.events], "external_annotations": [],
            "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": ""}}


def memory_stats_as_nested_dict(device=None):
    if pluggable.current is not None:
        raise RuntimeError("CUDAPluggableAllocator does not yet support getDeviceStats.")
    return {}


def memory_stats(device=None):
    flat = {}

    def add(prefix, value):
        if not isinstance(value, dict):
            flat[prefix] = value
            return
        for key, inner in value.items():
            add(f"{prefix}.{key}" if prefix else key, inner)

    add("", memory_stats_as_nested_dict(device))
    return flat


def memory_allocated(device=None):
    return memory_stats(device).get("allocated_bytes.all.current", 0)


def max_memory_reserved(device=None):
    return memory_stats(device).get("reserved_bytes.all.peak", 0)


def reset_peak_memory_stats(device=None):
    raise RuntimeError("CUDAPluggableAllocator does not yet support resetPeakStats.")


def _dump_snapshot(filename="dump_snapshot.pickle"):
    with open(filename, "wb") as file:
        pickle.dump(_snapshot(), file)
