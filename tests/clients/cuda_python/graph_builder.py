"""cuda.core: a capture that forks and joins, with an embedded graph and a callback; its execs, updates and drawing."""
import pathlib

import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch
from cuda.core.graph import GraphCompleteOptions, GraphDebugPrintOptions

CODE = 'extern "C" __global__ void scale(float* values, float by) { values[threadIdx.x] *= by; }'
device = Device()
device.set_current()
stream = device.create_stream()
scale = Program(CODE, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin").get_kernel("scale")
config = LaunchConfig(grid=1, block=64)
first, second = (device.memory_resource.allocate(256, stream=stream) for _ in range(2))
host = LegacyPinnedMemoryResource().allocate(256, stream=stream)
called = []


def build(by):
    builder = device.create_graph_builder().begin_building("thread_local")
    first.fill(3, stream=builder)
    left, right = builder.split(2)
    launch(left, config, scale, int(first.handle), np.float32(by))
    second.fill(4, stream=right)
    assert right.is_join_required and left.is_building
    joined = left.join(left, right)
    second.copy_to(host, stream=joined)
    joined.callback(lambda: called.append(by))
    return joined.end_building()


child = device.create_graph_builder().begin_building()
first.fill(1, stream=child)
child.end_building()
whole = device.create_graph_builder().begin_building()
whole.embed(child)
whole.end_building().complete().launch(stream)

builder = build(2)
drawing = pathlib.Path("graph.dot")
builder.debug_dot_print(str(drawing), GraphDebugPrintOptions(verbose=True))
assert "digraph" in drawing.read_text() and "scale" in drawing.read_text()
kinds = sorted(type(node).__name__ for node in builder.graph_definition.nodes())
assert kinds == ["HostCallbackNode", "KernelNode", "MemcpyNode", "MemsetNode", "MemsetNode"], kinds
graph = builder.complete(GraphCompleteOptions(upload_stream=stream))
for _ in range(3):
    graph.launch(stream)
stream.sync()
assert called == [2, 2, 2] and (np.from_dlpack(host) == 4).all()
graph.update(build(5))
graph.launch(stream)
stream.sync()
assert called[3:] == [5]
for closed in (graph, builder):
    closed.close()
for buffer in (first, second, host):
    buffer.close(stream)
stream.close()
