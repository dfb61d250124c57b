"""On the software device: leads the runtime inside cuda.bindings to graphkit's libcudart.

NVIDIA's static runtime in there is stripped, so that its code can't be led. Its functions, though, are published to
other modules as Cython publishes them: `__pyx_capi__` has a capsule for each, `_cudaMalloc` with the signature of
cudaMalloc, as the .pxd files of the package declare. Others copy the pointers when they are loaded, after the module
that publishes them: before, the pointers are set to libcudart's functions.
"""

import os
import sys

import _graphkit_soft_torch as soft  # sitecustomize has loaded it

# cuda.bindings 12.9 to 13.3, and from 13.4 on. Those that end with _ptds have the null stream of each thread.
PUBLISHERS = ("cuda.bindings._bindings.cyruntime", "cuda.bindings._bindings.cyruntime_ptds",
              "cuda.bindings._internal.runtime", "cuda.bindings._internal.runtime_ptds")


def address_of(library, name, per_thread):
    """None: the library has no such function."""
    import ctypes

    for suffix in ("_ptsz", "_ptds", "") if per_thread else ("",):
        function = getattr(library, name + suffix, None)
        if function is not None:
            return ctypes.cast(function, ctypes.c_void_p).value
    return None


def lead(module, library, per_thread):
    """Sets the pointers of the functions that the module publishes, but for those that the library lacks."""
    import ctypes

    set_pointer = ctypes.pythonapi.PyCapsule_SetPointer
    set_pointer.argtypes, set_pointer.restype = (ctypes.py_object, ctypes.c_void_p), ctypes.c_int
    for published, capsule in module.__pyx_capi__.items():
        address = address_of(library, published[1:], per_thread) if published.startswith("_cuda") else None
        if address is not None:
            set_pointer(capsule, address)


def lead_from(folder, module):
    """To the runtime of the version of CUDA that cuda.bindings is of."""
    import ctypes

    from cuda.bindings._version import __version__  # the package itself may still be in the middle of its import

    major = __version__.partition(".")[0]
    own_streams = os.environ.get("CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM", "0") not in ("", "0")
    library = ctypes.CDLL(os.path.join(folder, f"libcudart.so.{major}"))
    lead(module, library, own_streams or module.__name__.endswith("_ptds"))


class Finder:
    """On sys.meta_path: changes the modules that publish once they are loaded."""

    def __init__(self, folder):
        self.folder = folder

    def find_spec(self, name, path=None, target=None):
        if name not in PUBLISHERS:
            return None
        for finder in list(sys.meta_path):
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find else None
            if spec is not None:
                self._lead_when_loaded(spec.loader)
                return spec
        return None

    def _lead_when_loaded(self, loader):
        load = loader.exec_module

        def exec_module(module):
            load(module)
            try:
                lead_from(self.folder, module)
            except Exception as error:
                sys.stderr.write("graphkit: cuda.bindings' runtime isn't led to the software device: %s: %s\n" %
                                 (type(error).__name__, error))

        loader.exec_module = exec_module


def arm():
    folder = soft.soft_device()
    if folder is not None:
        sys.meta_path.insert(0, Finder(folder))
