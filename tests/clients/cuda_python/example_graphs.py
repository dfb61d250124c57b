"""cuda.core: the steps of its examples of graphs: memory of the graph beside managed memory in a capture, and an exec that is
updated by a capture with another argument."""
import numpy as np
from cuda.core import (Device, GraphMemoryResource, LaunchConfig, LegacyPinnedMemoryResource, ManagedMemoryResource,
                       ManagedMemoryResourceOptions, PinnedMemoryResource, PinnedMemoryResourceOptions, Program, ProgramOptions,
                       launch)

COUNT = 256
CODE = """
extern "C" __global__ void halve(float* values, size_t count) { if (threadIdx.x < count) values[threadIdx.x] /= 2; }
extern "C" __global__ void increase(int* value) { *value += 1; }
"""
device = Device()
device.set_current()
stream = device.create_stream()
made = Program(CODE, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin")
halve, increase = (made.get_kernel(name) for name in ("halve", "increase"))

managed = ManagedMemoryResource(ManagedMemoryResourceOptions(preferred_location=device.device_id, preferred_location_type="device"))
pinned = PinnedMemoryResource(PinnedMemoryResourceOptions(ipc_enabled=False))
scratch_memory = GraphMemoryResource(device)
values, result = (resource.allocate(4 * COUNT, stream=stream) for resource in (managed, pinned))
given, taken = (np.from_dlpack(buffer).view(np.float32) for buffer in (values, result))
stream.sync()
given[:] = np.arange(COUNT)

builder = device.create_graph_builder().begin_building("relaxed")
scratch = scratch_memory.allocate(4 * COUNT, stream=builder)
scratch.copy_from(values, stream=builder)
launch(builder, LaunchConfig(grid=1, block=COUNT), halve, scratch, np.uint64(COUNT))
result.copy_from(scratch, stream=builder)
scratch.close()
graph = builder.end_building().complete()
graph.upload(stream)
graph.launch(stream)
stream.sync()
assert np.array_equal(taken, np.arange(COUNT))  # kernels don't run
assert scratch_memory.attributes.used_mem_high >= 4 * COUNT
graph.close()
builder.close()

counters = LegacyPinnedMemoryResource().allocate(8, stream=stream)


def counts(place):
    capture = device.create_graph_builder().begin_building()
    for _ in range(2):
        launch(capture, LaunchConfig(grid=1, block=1), increase, int(counters.handle) + 4 * place)
    return capture.end_building()


first, second = counts(0), counts(1)
graph = first.complete()
for replaced in (None, second):
    if replaced:
        graph.update(replaced)
    graph.upload(stream)
    graph.launch(stream)
stream.sync()
for closed in (graph, second, first):
    closed.close()
for buffer in (values, result, counters):
    buffer.close(stream)
stream.sync()
for resource in (scratch_memory, pinned, managed):
    resource.close()
stream.close()
