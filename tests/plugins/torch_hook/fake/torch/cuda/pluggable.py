"""CUDAPluggableAllocator: loads a library's functions by name, and takes further ones by address."""

import ctypes


class _Pool(ctypes.Structure):
    _fields_ = [("first", ctypes.c_uint64), ("second", ctypes.c_uint64)]


class _Hooks:
    """PyTorch's C++ object. It calls the pool functions with types of C++; here their twins for C are called."""

    def __init__(self, library):
        self.library, self.set = library, {}

    def __getattr__(self, name):
        if not name.startswith("set_"):
            raise AttributeError(name)
        return lambda address: self.set.__setitem__(name, address)

    def call(self, setter, result, *arguments):
        types = [type(argument) for argument in arguments]
        return ctypes.CFUNCTYPE(result, *types)(self.set[setter])(*arguments) if setter in self.set else None

    def pool(self, what, pool_id, *filter_of_c):
        setter = {"begin": "set_begin_allocate_to_pool", "end": "set_end_allocate_to_pool_fn",
                  "release": "set_release_pool"}[what]
        if setter in self.set:
            getattr(self.library, f"graphkit_allocator_{what}_pool")(ctypes.c_int(0), _Pool(*pool_id), *filter_of_c)


class CUDAPluggableAllocator:
    def __init__(self, path, malloc_name, free_name):
        self.library = ctypes.CDLL(path)
        self.malloc = getattr(self.library, malloc_name)
        self.malloc.restype = ctypes.c_void_p
        self.free = getattr(self.library, free_name)
        self._allocator = _Hooks(self.library)

    def allocator(self):
        return self._allocator


class PluggableTensor:
    def __init__(self, size, device="cuda"):
        from .graphs import current_handle
        from .memory import _init

        _init()
        self.size, self.stream = size, current_handle()
        self.address = current.malloc(ctypes.c_size_t(size), ctypes.c_int(0), ctypes.c_void_p(self.stream))

    def data_ptr(self):
        return self.address

    def record_stream(self, stream):
        current.allocator().call("set_record_stream_fn", None, ctypes.c_void_p(self.address),
                                 ctypes.c_void_p(stream.cuda_stream))

    def zero_(self):
        from .graphs import current_handle
        from .memory import check, library

        check(library().cudaMemsetAsync(ctypes.c_void_p(self.address), 0, ctypes.c_size_t(self.size),
                                        ctypes.c_void_p(current_handle())))
        return self

    def __del__(self):
        if getattr(self, "address", None):
            current.free(ctypes.c_void_p(self.address), ctypes.c_size_t(self.size), ctypes.c_int(0),
                         ctypes.c_void_p(self.stream))


current = None


def change_current_allocator(allocator):
    import torch

    global current
    if torch.cuda.is_initialized():
        raise RuntimeError("Can't swap an already initialized allocator")
    current, torch.empty = allocator, PluggableTensor
    current.allocator().call("set_init_fn", None, ctypes.c_int(1))
