"""cuda.core: streams, what orders them, and events that measure the time between them."""
import numpy as np
from cuda.core import Device, EventOptions, LegacyPinnedMemoryResource, StreamOptions

device = Device()
device.set_current()
assert device.compute_capability >= (7, 0) and device.properties.multiprocessor_count > 0
first = device.create_stream(options=StreamOptions(nonblocking=True, priority=-1))
second = device.create_stream()
assert first.is_nonblocking and first.priority == -1 and not second.priority

host = LegacyPinnedMemoryResource()
source, target = (host.allocate(4096, stream=first) for _ in range(2))
words, copied = (np.from_dlpack(buffer) for buffer in (source, target))
words[:] = np.arange(4096) % 127
on_device = device.memory_resource.allocate(4096, stream=first)

timed = EventOptions(timing_enabled=True)
begin = first.record(options=timed)
source.copy_to(on_device, stream=first)
second.wait(first)
on_device.copy_to(target, stream=second)
end = second.record(options=timed)
end.sync()
assert begin.is_done and end - begin > 0
assert np.array_equal(words, copied)

untimed = second.record()
first.wait(untimed)
first.sync()
second.sync()
for kept in (on_device, source, target):
    kept.close(first)
for stream in (first, second):
    stream.close()
