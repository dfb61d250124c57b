"""cuda.core: the steps of its examples of memory: copies in batches, a buffer that another stream frees, views of everything that
has strides, a texture of an array, and all properties of the device."""
import numpy as np
from cuda.core import Device, Host, LegacyPinnedMemoryResource, ManagedMemoryResource
from cuda.core.texture import OpaqueArrayOptions, ResourceDescriptor, TextureObjectOptions
from cuda.core.utils import CopyOptions, MemcpySrcAccessOrder, StridedMemoryView, copy_batch

COPIES, SIZE = 4, 4096
device = Device()
device.set_current()
stream, consumer = (device.create_stream() for _ in range(2))
pinned, managed = LegacyPinnedMemoryResource(), ManagedMemoryResource()
in_order, at_any_time = (CopyOptions(src_access_order=order) for order in (MemcpySrcAccessOrder.STREAM, MemcpySrcAccessOrder.ANY))


def bytes_of(buffer):
    back = pinned.allocate(buffer.size)
    buffer.copy_to(back, stream=stream)
    stream.sync()
    return np.from_dlpack(back).copy()


sources = [pinned.allocate(SIZE) for _ in range(COPIES)]
for number, source in enumerate(sources):
    source.fill(number + 1, stream=stream)
for options in (in_order, [in_order, at_any_time] * (COPIES // 2)):
    targets = [device.memory_resource.allocate(SIZE, stream=stream) for _ in sources]
    copy_batch(stream, sources, targets, options=options)
    assert [set(bytes_of(target)) for target in targets] == [{number + 1} for number in range(COPIES)]
    for target in targets:
        target.close(stream)
pair = [managed.allocate(SIZE, stream=stream) for _ in range(2)]
pair[0].fill(77, stream=stream)
hints = CopyOptions(src_access_order=MemcpySrcAccessOrder.STREAM, src_location_hint=device, dst_location_hint=Host())
copy_batch(stream, pair[:1], pair[1:], options=hints)
assert (bytes_of(pair[1]) == 77).all()

produced = device.memory_resource.allocate(SIZE, stream=stream)
produced.fill(42, stream=stream)
consumer.wait(stream.record())
produced.set_deallocation_stream(consumer)
result = pinned.allocate(SIZE)
produced.copy_to(result, stream=consumer)
produced.close()
consumer.sync()
assert (np.from_dlpack(result) == 42).all()

on_host = np.arange(12, dtype=np.int16).reshape(3, 4)
for view in (StridedMemoryView.from_array_interface(on_host), StridedMemoryView.from_dlpack(on_host, stream_ptr=-1)):
    assert view.shape == (3, 4) and not view.is_device_accessible and np.array_equal(np.from_dlpack(view), on_host)
buffer = device.memory_resource.allocate(48, stream=stream)
of_buffer = StridedMemoryView.from_buffer(buffer, shape=(3, 4), strides=(4, 1), dtype=np.dtype(np.float32))
assert of_buffer.is_device_accessible and of_buffer.ptr == int(buffer.handle) and of_buffer.size == 12

pattern = np.arange(256, dtype=np.float32).reshape(16, 16)
array = device.create_opaque_array(OpaqueArrayOptions(shape=(16, 16), format="float32", num_channels=1))
array.copy_from(pattern, stream=stream)
back = np.zeros_like(pattern)
array.copy_to(back, stream=stream)
stream.sync()
assert np.array_equal(back, pattern)
form = TextureObjectOptions(address_mode="clamp", filter_mode="linear", read_mode="element_type", normalized_coords=False)
texture = device.create_texture_object(resource=ResourceDescriptor.from_opaque_array(array), options=form)
assert int(texture.handle)
texture.close()
array.close()

properties = [name for name in dir(device.properties) if not name.startswith("_")]
for name in properties:
    getattr(device.properties, name)
assert len(properties) > 90
for closed in (*sources, *pair, result, buffer):
    closed.close(stream)
stream.sync()
managed.close()
consumer.close()
stream.close()
