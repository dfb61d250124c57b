# graphkit: nothing
"""DLPack: memory handed to a consumer in another stream, which waits, also where the producer is captured."""
import cupy
import numpy

main, side = (cupy.cuda.Stream(non_blocking=True) for _ in range(2))
with main:
    values = cupy.asarray(numpy.arange(600, dtype=numpy.int32).reshape(20, 30))
with side:
    seen = cupy.from_dlpack(values)
    assert seen.data.ptr == values.data.ptr and seen.strides == values.strides
    copied = seen.T.copy()
side.synchronize()
assert numpy.array_equal(seen.get(), numpy.arange(600).reshape(20, 30))
assert values.__dlpack_device__() == (2, 0)


class Foreign:
    """Memory of somebody else's, described by the CUDA array interface."""

    __cuda_array_interface__ = {**values.__cuda_array_interface__, "stream": main.ptr}


with side:
    assert cupy.asarray(Foreign()).data.ptr == values.data.ptr
    assert numpy.array_equal(numpy.from_dlpack(values, device="cpu", copy=True), values.get())

with main:
    main.begin_capture()
    values.data.memset_async(0, values.nbytes)
    capsule = values.__dlpack__(stream=side.ptr)
    with side:
        assert side.is_capturing()
        taken = cupy.from_dlpack(values)
        taken.data.memset_async(1, 4)
    main.wait_event(side.record(cupy.cuda.Event(disable_timing=True)))
    graph = main.end_capture()
    graph.launch()
main.synchronize()
assert values.get().ravel().tolist() == [0x01010101] + [0] * 599
