"""cuda.core: pools of managed and of page-locked memory, and allocation nodes of both, which the host reads itself."""
import ctypes

import numpy as np
from cuda.bindings import driver
from cuda.core import (Device, ManagedMemoryResource, ManagedMemoryResourceOptions, PinnedMemoryResource,
                       PinnedMemoryResourceOptions)
from cuda.core.graph import GraphDefinition

device = Device()
device.set_current()
stream = device.create_stream()
SIZE = 1 << 20

resources = [ManagedMemoryResource()]  # the pool of no place
for place in (dict(preferred_location=device.device_id), dict(preferred_location=-1), {}):
    resources.append(ManagedMemoryResource(ManagedMemoryResourceOptions(**place)))
resources.append(PinnedMemoryResource())
resources.append(PinnedMemoryResource(PinnedMemoryResourceOptions(max_size=64 << 20)))
for resource in resources:
    assert resource.is_host_accessible and resource.is_device_accessible, resource
    buffer = resource.allocate(SIZE, stream=stream)
    buffer.fill(7, stream=stream)
    stream.sync()
    data = np.from_dlpack(buffer)
    assert (data == 7).all(), resource
    copy = device.memory_resource.allocate(SIZE, stream=stream)
    copy.copy_from(buffer, stream=stream)
    buffer.fill(0, stream=stream)
    buffer.copy_from(copy, stream=stream)
    if isinstance(resource, ManagedMemoryResource):
        buffer.prefetch(device, stream=stream)
    stream.sync()
    assert (data == 7).all(), resource
    del data
    copy.close(stream)
    buffer.close(stream)
    stream.sync()
    assert resource.attributes.used_mem_current == 0, resource

graph = GraphDefinition()
nodes = []
for kind in ("device", "host", "managed"):
    allocation = graph.allocate(SIZE, memory_type=kind)
    assert allocation.memory_type == kind
    nodes.append(allocation.memset(allocation.dptr, 9, SIZE))
addresses = [int(node.dptr) for node in nodes]
executable = graph.instantiate()
executable.launch(stream)
stream.sync()
for address in addresses[1:]:
    assert ctypes.string_at(address, SIZE) == b"\x09" * SIZE
for address in addresses:
    assert driver.cuMemFreeAsync(address, int(stream.handle))[0] == driver.CUresult.CUDA_SUCCESS
stream.sync()
