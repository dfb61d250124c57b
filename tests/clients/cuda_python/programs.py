"""cuda.core: NVRTC and nvJitLink make kernels, in every form, which are loaded, asked and captured."""
import numpy as np
from cuda.core import Device, LaunchConfig, Linker, LinkerOptions, ObjectCode, Program, ProgramOptions, launch

CODE = """
template <typename T> __global__ void add(T* to, const T* from, size_t count) {
  size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) to[i] += from[i];
}
extern "C" __device__ int twice(int);
extern "C" __global__ void calls(int* value) { *value = twice(*value); }
"""
DEVICE_CODE = 'extern "C" __device__ int twice(int value) { return 2 * value; }'
ADDS = ("add<float>", "add<double>")

device = Device()
device.set_current()
arch = f"sm_{device.arch}"
stream = device.create_stream()
options = ProgramOptions(arch=arch, std="c++17", relocatable_device_code=True)
parts = [Program(code, "c++", options).compile("ptx", name_expressions=names)
         for code, names in ((CODE, ADDS), (DEVICE_CODE, ()))]
linked = Linker(*parts, options=LinkerOptions(arch=arch)).link("cubin")
calls = linked.get_kernel("calls")
assert calls.num_arguments == 1 and calls.attributes.max_threads_per_block == 1024

whole = Program(CODE.replace("twice(*value)", "*value"), "c++", ProgramOptions(arch=arch)).compile("cubin", ADDS)
add = whole.get_kernel("add<float>")
assert [(one.offset, one.size) for one in add.arguments_info] == [(0, 8), (8, 8), (16, 8)]
assert add.occupancy.max_active_blocks_per_multiprocessor(256, 0) >= 1
again = ObjectCode.from_cubin(whole.code, symbol_mapping=whole.symbol_mapping).get_kernel("add<double>")

first, second = (device.memory_resource.allocate(4096, stream=stream) for _ in range(2))
config = LaunchConfig(grid=4, block=256)
builder = device.create_graph_builder().begin_building()
for kernel in (add, again):
    launch(builder, config, kernel, int(first.handle), int(second.handle), np.uint64(512))
launch(builder, LaunchConfig(grid=1, block=1), calls, int(first.handle))
nodes = list(builder.end_building().graph_definition.nodes())
assert sorted(node.grid[0] for node in nodes) == [1, 4, 4]
builder.complete().launch(stream)
stream.sync()
try:
    Program("this is no program", "c++", ProgramOptions(arch=arch)).compile("ptx")
except Exception as error:
    assert "error" in str(error)
else:
    raise AssertionError("nonsense was compiled")
