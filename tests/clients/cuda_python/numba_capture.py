"""numba-cuda: kernels compiled by NVVM, launched and captured, in streams of numba and of cuda.core."""
import numpy as np
from cuda.core import Device
from numba import cuda


@cuda.jit
def add(to, values):
    i = cuda.grid(1)
    if i < to.size:
        to[i] += values[i]


device = Device()
device.set_current()
stream = device.create_stream()
host = np.arange(1024, dtype=np.float32)
first, second = cuda.to_device(host), cuda.device_array(1024, np.float32)
second.copy_to_device(first)
assert np.array_equal(second.copy_to_host(), host)
add[4, 256, cuda.external_stream(int(stream.handle))](first, second)
stream.sync()

builder = device.create_graph_builder().begin_building("relaxed")
captured = cuda.external_stream(int(builder.stream.handle))
for _ in range(3):
    add[4, 256, captured](first, second)
cuda.driver.driver.cuMemcpyDtoDAsync(int(second.device_ctypes_pointer.value), int(first.device_ctypes_pointer.value),
                                     4096, int(builder.stream.handle))
kinds = [type(node).__name__ for node in builder.end_building().graph_definition.nodes()]
assert sorted(kinds) == ["KernelNode"] * 3 + ["MemcpyNode"], kinds
graph = builder.complete()
graph.launch(stream)
stream.sync()
graph.close()
builder.close()
