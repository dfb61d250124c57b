"""cuda.bindings.driver: a capture across two streams and its information."""
import numpy as np
from cuda.bindings import driver

OK = driver.CUresult.CUDA_SUCCESS
GLOBAL = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL


def did(result):
    status, *values = result
    assert status == OK, status
    return values[0] if len(values) == 1 else values


did(driver.cuInit(0))
did(driver.cuCtxSetCurrent(did(driver.cuDevicePrimaryCtxRetain(0))))
main, side = (did(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING)) for _ in range(2))
fork, join = (did(driver.cuEventCreate(driver.CUevent_flags.CU_EVENT_DISABLE_TIMING)) for _ in range(2))
first, second = (did(driver.cuMemAlloc(1 << 16)) for _ in range(2))
host = did(driver.cuMemAllocHost(1 << 16))

did(driver.cuStreamBeginCapture(main, GLOBAL))
did(driver.cuMemsetD8Async(first, 5, 1 << 16, main))
did(driver.cuEventRecord(fork, main))
did(driver.cuStreamWaitEvent(side, fork, 0))
did(driver.cuMemcpyDtoDAsync(second, first, 1 << 16, side))
temporary = did(driver.cuMemAllocAsync(1 << 20, main))
did(driver.cuMemsetD8Async(temporary, 1, 1 << 20, main))
did(driver.cuMemFreeAsync(temporary, main))
did(driver.cuEventRecord(join, side))
did(driver.cuStreamWaitEvent(main, join, 0))
status, identity, graph, dependencies, edges, count = did(driver.cuStreamGetCaptureInfo(main))
assert status == driver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE and identity and count == 2
did(driver.cuMemcpyDtoHAsync(host, second, 1 << 16, main))
graph = did(driver.cuStreamEndCapture(main))
execution = did(driver.cuGraphInstantiate(graph, 0))
for _ in range(2):
    did(driver.cuGraphLaunch(execution, main))
did(driver.cuStreamSynchronize(main))
data = np.zeros(1 << 16, np.uint8)
did(driver.cuMemcpyDtoH(data.ctypes.data, second, 1 << 16))
assert (data == 5).all()

did(driver.cuGraphExecDestroy(execution))
did(driver.cuGraphDestroy(graph))
did(driver.cuMemFreeHost(host))
for free, what in ((driver.cuMemFree, (first, second)), (driver.cuEventDestroy, (fork, join)),
                   (driver.cuStreamDestroy, (main, side))):
    for one in what:
        did(free(one))
did(driver.cuDevicePrimaryCtxRelease(0))
