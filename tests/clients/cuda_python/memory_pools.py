"""cuda.core: memory resources, of the device's pool, an own pool, managed, page-locked and virtual memory."""
import numpy as np
from cuda.core import (Device, DeviceMemoryResource, DeviceMemoryResourceOptions, LegacyPinnedMemoryResource,
                       VirtualMemoryResource)

device = Device()
device.set_current()
stream = device.create_stream()

pool = DeviceMemoryResource(device, options=DeviceMemoryResourceOptions(max_size=64 << 20))
assert pool.device_id == device.device_id and pool.is_device_accessible and not pool.is_host_accessible
buffers = [pool.allocate(4 << 20, stream=stream) for _ in range(4)]
assert pool.attributes.used_mem_current == 16 << 20
assert len({int(buffer.handle) for buffer in buffers}) == 4
for buffer in buffers:
    buffer.close(stream)
stream.sync()
assert pool.attributes.used_mem_current == 0 and pool.attributes.used_mem_high == 16 << 20
try:
    pool.allocate(1 << 30, stream=stream)
except Exception as error:
    assert "OUT_OF_MEMORY" in str(error), error
else:
    raise AssertionError("a pool of 64 MiB gave 1 GiB")

host = LegacyPinnedMemoryResource().allocate(1 << 20, stream=stream)
data = np.from_dlpack(host)
source, target = (device.memory_resource.allocate(1 << 20, stream=stream) for _ in range(2))
source.fill(7, stream=stream)
target.copy_from(source, stream=stream)
target.copy_to(host, stream=stream)
stream.sync()
assert (data == 7).all()

virtual = VirtualMemoryResource(device)
mapped = virtual.allocate(3 << 20)
assert mapped.size >= 3 << 20
mapped.fill(9, stream=stream)
stream.sync()
mapped.close()
for buffer in (source, target, host):
    buffer.close(stream)
stream.sync()
pool.close()
stream.close()
