"""graphkit's allocator as PyTorch's: memory that crossed streams is reused inside of captures.

    from graphkit import torch_allocator
    torch_allocator.enable()            # before anything uses CUDA

Needs PyTorch 2.3 or later; nothing else of graphkit. docs/pytorch.md.
"""

from __future__ import annotations

import ctypes
import os
import pathlib
import shutil
from typing import Any, Optional, Union

LIBRARY = "libgraphkit_torch_allocator.so"
Path = Union[str, "os.PathLike[str]"]

# What PyTorch can be given, by the names that CUDAPluggableAllocator has for it; not all versions have all.
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

    VERSION = 1
    _fields_ = [(name, ctypes.c_uint64) for name in (
        "mallocs", "frees", "record_streams", "out_of_memory", "allocated", "peak_allocated", "reserved",
        "peak_reserved", "captures", "captured_mallocs", "proved_frees", "deferred_frees", "deferred_bytes", "planned",
        "plan_departures", "plan_refusals", "plan_unused")]


class _State:
    library: Optional[ctypes.CDLL] = None
    allocator: Any = None  # lives as long as the process: PyTorch's blocks point to it


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


def enable(library: Optional[Path] = None, plan: Optional[Path] = None, report: Optional[Path] = None) -> Any:
    """Makes it PyTorch's allocator for this process; before anything uses CUDA. Returns PyTorch's object.

    `plan`: place the blocks of captures as this plan says (GRAPHKIT_PLAN); `report`: write figures there when the process
    ends (GRAPHKIT_ALLOCATOR_REPORT).
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
    """What GRAPHKIT_ALLOCATOR_REPORT writes at the end of the process, at once."""
    if _State.library is None:
        raise RuntimeError("graphkit.torch_allocator isn't enabled")
    if _State.library.graphkit_allocator_report(os.fsencode(os.fspath(path))):
        raise OSError(f"can't write {path}")
