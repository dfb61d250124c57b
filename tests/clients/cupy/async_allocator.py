# graphkit: nothing
"""The asynchronous allocator: a pool of the driver's, and memory nodes in a capture."""
import cupy

pool = cupy.cuda.MemoryAsyncPool()
stream = cupy.cuda.Stream(non_blocking=True)
with cupy.cuda.using_allocator(pool.malloc), stream:
    values = cupy.zeros(1 << 16, cupy.float32)
    kept = cupy.empty_like(values)
    assert pool.used_bytes() >= 2 * values.nbytes
    (values + 1).sum()
    stream.synchronize()
    stream.begin_capture()
    doubled = values * 2
    cupy.copyto(kept, doubled)
    del doubled
    temporary = cupy.full(1 << 16, 3, cupy.float32)
    kept += temporary
    del temporary
    graph = stream.end_capture()
    for _ in range(3):
        graph.launch()
    stream.synchronize()
    cupy.copyto(kept, values)
    assert not kept.get().any()
    del values, kept
stream.synchronize()
pool.free_all_blocks()

with cupy.cuda.using_allocator(cupy.cuda.malloc_async), stream:
    assert cupy.ones(5).shape == (5,)
stream.synchronize()
