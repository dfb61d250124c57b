"""Runs when a Python starts that `graphkit trace` traces: arms the hook for torch, shows the software device to programs
that look for NVIDIA's driver by its files, then lets the sitecustomize that this one hides run as if it were alone.

PYTHONPATH leads here, so processes that are spawned come here as well.
"""

import os
import sys


def _leave_path(folder):
    """The program sees the sys.path that it would have without graphkit."""
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != folder]


def _load(folder, name):
    import importlib.util

    spec = importlib.util.spec_from_file_location("_" + name, os.path.join(folder, name + ".py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules["_" + name] = module
    spec.loader.exec_module(module)
    return module


def _arm(folder):
    _load(folder, "graphkit_soft_torch")
    _load(folder, "graphkit_torch_hook").arm()
    _load(folder, "graphkit_soft_bindings").arm()


def _show_device_files():
    """JAX leaves CUDA alone where none of these is there."""
    files = ("/dev/nvidiactl", "/dev/nvidia0")
    exists = os.path.exists
    if "libgraphkit_soft_audit" in os.environ.get("LD_AUDIT", "") and not any(map(exists, files)):
        os.path.exists = lambda path: path in files or exists(path)


def _run_hidden():
    import importlib.util
    from importlib.machinery import PathFinder

    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


def _start():
    folder = os.path.dirname(os.path.abspath(__file__))
    _leave_path(folder)
    try:
        _arm(folder)
    except Exception as error:
        sys.stderr.write("graphkit: torch's memory isn't recorded: %s: %s\n" % (type(error).__name__, error))
    _show_device_files()
    _run_hidden()


if sys.version_info >= (3, 8):
    _start()
