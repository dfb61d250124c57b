# graphkit: nothing
"""A capture with elementwise kernels, a reduction, a copy and a fill; the graph is launched again and again."""
import cupy

stream = cupy.cuda.Stream(non_blocking=True)
with stream:
    first, second = cupy.arange(1024, dtype=cupy.float32), cupy.ones(1024, cupy.float32)
    mask = cupy.zeros(1024, cupy.uint8)
    result, total = cupy.empty_like(first), cupy.empty((), cupy.float32)
    cupy.multiply(first, second, out=result)  # compiled before the capture
    cupy.sum(result, out=total)
    stream.synchronize()

    assert not stream.is_capturing()
    stream.begin_capture()
    assert stream.is_capturing()
    cupy.multiply(first, second, out=result)
    cupy.add(result, first, out=result)
    cupy.sum(result, out=total)
    cupy.copyto(second, result)
    mask.data.memset_async(7, mask.nbytes)
    graph = stream.end_capture()
assert not stream.is_capturing()

graph.upload(stream)
for _ in range(3):
    graph.launch(stream)
stream.synchronize()
assert (mask.get() == 7).all()

with stream:
    stream.begin_capture(mode=cupy.cuda.runtime.streamCaptureModeRelaxed)
    mask.data.memset_async(9, mask.nbytes)
    other = stream.end_capture()
    other.launch()
stream.synchronize()
assert (mask.get() == 9).all()
