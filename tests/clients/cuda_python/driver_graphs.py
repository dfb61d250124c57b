# graphkit: note instantiate-failed :62 'form a cycle'
"""cuda.bindings.driver: a graph by explicit calls, with memory nodes; changed, cloned, updated and drawn. One is refused for a
cycle; without it, an exec is updated to it, so that the refusal is a note."""
import ctypes
import pathlib

import numpy as np
from cuda.bindings import driver


def did(result):
    status, *values = result
    assert status == driver.CUresult.CUDA_SUCCESS, status
    return values[0] if len(values) == 1 else values


did(driver.cuInit(0))
context = did(driver.cuDevicePrimaryCtxRetain(did(driver.cuDeviceGet(0))))
did(driver.cuCtxSetCurrent(context))
stream = did(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING))
graph = did(driver.cuGraphCreate(0))

alloc = driver.CUDA_MEM_ALLOC_NODE_PARAMS()
alloc.poolProps.allocType = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
alloc.poolProps.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
alloc.bytesize = 4096
allocated = did(driver.cuGraphAddMemAllocNode(graph, None, 0, alloc))

fill = driver.CUDA_MEMSET_NODE_PARAMS()
fill.dst, fill.elementSize, fill.width, fill.height, fill.value = alloc.dptr, 4, 1024, 1, 41
filled = did(driver.cuGraphAddMemsetNode(graph, [allocated], 1, fill, context))

target = np.zeros(1024, np.uint32)
copy = driver.CUDA_MEMCPY3D()
copy.srcMemoryType, copy.srcDevice = driver.CUmemorytype.CU_MEMORYTYPE_DEVICE, alloc.dptr
copy.dstMemoryType, copy.dstHost = driver.CUmemorytype.CU_MEMORYTYPE_HOST, target.ctypes.data
copy.WidthInBytes, copy.Height, copy.Depth = 4096, 1, 1
copied = did(driver.cuGraphAddMemcpyNode(graph, [filled], 1, copy, context))
freed = did(driver.cuGraphAddMemFreeNode(graph, [copied], 1, alloc.dptr))
last = did(driver.cuGraphAddEmptyNode(graph, [freed], 1))
assert did(driver.cuGraphGetNodes(graph, 16))[1] == 5
assert did(driver.cuGraphNodeGetType(freed)) == driver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEM_FREE

drawing = pathlib.Path("graph.dot")
did(driver.cuGraphDebugDotPrint(graph, str(drawing).encode(), 0))
assert drawing.read_text().count("->") == 4

execution = did(driver.cuGraphInstantiate(graph, 0))
did(driver.cuGraphLaunch(execution, stream))
did(driver.cuStreamSynchronize(stream))
assert (target == 41).all()
fill.value = 42
did(driver.cuGraphExecMemsetNodeSetParams(execution, filled, fill, context))
did(driver.cuGraphLaunch(execution, stream))
did(driver.cuStreamSynchronize(stream))
assert (target == 42).all()

plain = did(driver.cuGraphCreate(0))
empty = [did(driver.cuGraphAddEmptyNode(plain, None, 0)) for _ in range(2)]
did(driver.cuGraphAddDependencies(plain, empty[:1], empty[1:], None, 1))
did(driver.cuGraphAddDependencies(plain, empty[1:], empty[:1], None, 1))  # a cycle, as hardware.md has it
assert driver.cuGraphInstantiate(plain, 0)[0] == driver.CUresult.CUDA_ERROR_INVALID_VALUE
did(driver.cuGraphRemoveDependencies(plain, empty[1:], empty[:1], None, 1))
clone = did(driver.cuGraphClone(plain))
other = did(driver.cuGraphInstantiate(clone, 0))
info = did(driver.cuGraphExecUpdate(other, plain))
assert info.result == driver.CUgraphExecUpdateResult.CU_GRAPH_EXEC_UPDATE_SUCCESS
for destroy, what in ((driver.cuGraphExecDestroy, (execution, other)), (driver.cuGraphDestroy, (graph, plain, clone))):
    for one in what:
        did(destroy(one))
did(driver.cuStreamDestroy(stream))
did(driver.cuDevicePrimaryCtxRelease(0))
