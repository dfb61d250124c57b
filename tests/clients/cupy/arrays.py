# graphkit: nothing
"""Arrays: copies both ways, through page-locked and managed memory, and what the device says of itself."""
import cupy
import cupyx
import numpy

device = cupy.cuda.Device(0)
assert cupy.cuda.runtime.getDeviceCount() >= 1 and int(device.compute_capability) >= 70
assert cupy.cuda.runtime.getDeviceProperties(0)["multiProcessorCount"] == device.attributes["MultiProcessorCount"]
free, total = device.mem_info
assert 0 < free <= total

host = numpy.arange(1 << 16, dtype=numpy.float64).reshape(256, 256)
here = cupy.asarray(host)
again = cupy.empty_like(here)
again.data.copy_from_device(here.data, here.nbytes)
assert numpy.array_equal(cupy.asnumpy(again), host)
assert numpy.array_equal(here[7:9].get(), host[7:9])
here.fill(0)
here.set(host)
assert numpy.array_equal(here.get(), host)
assert not cupy.zeros((3, 5), cupy.int16).get().any()

pinned = cupyx.empty_pinned((256, 256))
stream = cupy.cuda.Stream(non_blocking=True)
with stream:
    here.get(out=pinned, blocking=False)
    again.set(pinned, stream=stream)
    begin, end = stream.record(), cupy.cuda.Event()
    here.data.copy_from_device_async(again.data, again.nbytes, stream)
    end.record(stream)
stream.synchronize()
assert numpy.array_equal(pinned, host) and cupy.cuda.get_elapsed_time(begin, end) >= 0
with cupy.cuda.using_allocator(cupy.cuda.MemoryPool(cupy.cuda.malloc_managed).malloc):
    assert numpy.array_equal(cupy.asarray(host).get(), host)
