"""cuda.bindings.runtime: memory, a capture, and the ids of its graph; cuda.core's Device.sync()."""
from cuda.bindings import driver, runtime
from cuda.core import Device

OK = runtime.cudaError_t.cudaSuccess
RELAXED = runtime.cudaStreamCaptureMode.cudaStreamCaptureModeRelaxed


def did(result):
    status, *values = result
    assert status == OK, status
    return values[0] if len(values) == 1 else values


device = Device()
device.set_current()
device.sync()
memory = did(runtime.cudaMalloc(1 << 16))
stream = did(runtime.cudaStreamCreate())
did(runtime.cudaStreamBeginCapture(stream, RELAXED))
did(runtime.cudaMemsetAsync(memory, 5, 1 << 16, stream))
graph = did(runtime.cudaStreamEndCapture(stream))
_, count = did(runtime.cudaGraphGetNodes(graph, 0))
nodes, _ = did(runtime.cudaGraphGetNodes(graph, count))
assert count == 1, count
number = did(runtime.cudaGraphGetId(graph))
local = did(runtime.cudaGraphNodeGetLocalId(nodes[0]))
assert did(runtime.cudaGraphNodeGetToolsId(nodes[0])) == number << 32 | local
status, same = driver.cuGraphGetId(driver.CUgraph(int(graph)))
assert (int(status), same) == (0, number), (status, same)
executable = did(runtime.cudaGraphInstantiate(graph, 0))
did(runtime.cudaGraphLaunch(executable, stream))
did(runtime.cudaStreamSynchronize(stream))
back = bytearray(1 << 16)
did(runtime.cudaMemcpy(back, memory, 1 << 16, runtime.cudaMemcpyKind.cudaMemcpyDeviceToHost))
assert back == b"\5" * (1 << 16)
status, = runtime.cudaDeviceSynchronize()
assert status == OK
did(runtime.cudaGraphExecDestroy(executable))
did(runtime.cudaGraphDestroy(graph))
did(runtime.cudaStreamDestroy(stream))
did(runtime.cudaFree(memory))
