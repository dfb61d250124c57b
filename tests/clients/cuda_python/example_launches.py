# environment: GRAPHKIT_SOFT_DEVICES=2
"""cuda.core: the steps of its examples of launches: clusters, a kernel that begins before the one before it ends, cooperative
grids, tensor maps whose address is replaced, and two devices; launched and captured."""
import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch
from cuda.core.utils import StridedMemoryView

TILE, COUNT = 128, 1024
CODE = """
struct alignas(64) Map { unsigned long long words[16]; };
extern "C" __global__ void tile(const __grid_constant__ Map map, float* out, int count) {
  if (threadIdx.x == 0) out[blockIdx.x % count] = map.words[0];
}
extern "C" __global__ void mark(unsigned* place) { asm volatile("griddepcontrol.wait;"); *place = gridDim.x; }
"""
device = Device(0)
device.set_current()
assert device.compute_capability >= (9, 0)
stream = device.create_stream()
made = Program(CODE, "c++", ProgramOptions(arch=f"sm_{device.arch}", std="c++17")).compile("cubin")
tile, mark = (made.get_kernel(name) for name in ("tile", "mark"))
source, other, out = (device.memory_resource.allocate(4 * COUNT, stream=stream) for _ in range(3))
host = LegacyPinnedMemoryResource().allocate(4, stream=stream)


def view(buffer):
    return StridedMemoryView.from_buffer(buffer, shape=(COUNT,), dtype=np.dtype(np.float32))


tensor_map = view(source).as_tensor_map(box_dim=(TILE,))
forms = [LaunchConfig(grid=4, cluster=2, block=32), LaunchConfig(grid=4, block=32, is_cooperative=True),
         LaunchConfig(grid=4, block=32, programmatic_stream_serialization=True)]


def work(to):
    tensor_map.replace_address(source)
    launch(to, LaunchConfig(grid=COUNT // TILE, block=TILE), tile, tensor_map, out, np.int32(COUNT))
    tensor_map.replace_address(other)
    launch(to, LaunchConfig(grid=COUNT // TILE, block=TILE), tile, tensor_map, out, np.int32(COUNT))
    for form in forms:
        launch(to, form, mark, host)


for buffer in (source, other, out):
    buffer.fill(0, stream=stream)
work(stream)
stream.sync()
builder = device.create_graph_builder().begin_building()
work(builder)
nodes = [node for node in builder.end_building().graph_definition.nodes()]
assert sorted(node.grid[0] for node in nodes) == [4, 4, 8, 8, 8], [node.grid for node in nodes]  # grids count blocks, not clusters
graph = builder.complete()
graph.launch(stream)
stream.sync()

done = stream.record()
second = Device(1)
second.set_current()
beside = second.create_stream()
there = Program(CODE, "c++", ProgramOptions(arch=f"sm_{second.arch}", std="c++17")).compile("cubin").get_kernel("mark")
memory = second.memory_resource.allocate(4, stream=beside)
beside.wait(done)
launch(beside, LaunchConfig(grid=2, block=32), there, memory)
beside.sync()
memory.close(beside)
beside.close()
device.set_current()
for closed in (graph, builder):
    closed.close()
for buffer in (source, other, out, host):
    buffer.close(stream)
stream.close()
