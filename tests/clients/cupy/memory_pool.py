# graphkit: nothing
"""The memory pool: what it holds and gives back, its limit, and a capture that takes its temporaries out of it."""
import cupy

pool = cupy.cuda.MemoryPool()
stream = cupy.cuda.Stream(non_blocking=True)
with cupy.cuda.using_allocator(pool.malloc), stream:
    first = cupy.ones(1 << 18, cupy.float32)
    assert pool.used_bytes() == 1 << 20 == pool.total_bytes()
    address = first.data.ptr
    del first
    assert pool.used_bytes() == 0 and pool.n_free_blocks() == 1
    first = cupy.zeros(1 << 18, cupy.float32)
    assert first.data.ptr == address
    pool.set_limit(size=2 << 20)
    try:
        cupy.empty(4 << 20, cupy.uint8)
    except cupy.cuda.memory.OutOfMemoryError:
        pass
    else:
        raise AssertionError("4 MiB came out of a pool of 2 MiB")
    pool.set_limit(size=0)

    ((first + 1) * 2 - first).sum()  # compiled, and the pool has the blocks
    stream.synchronize()
    before = pool.total_bytes()
    stream.begin_capture()
    total = ((first + 1) * 2 - first).sum()
    graph = stream.end_capture()
    assert pool.total_bytes() == before
    for _ in range(2):
        graph.launch()
    stream.synchronize()
    del first, total
pool.free_all_blocks()
assert pool.total_bytes() == 0
pinned = cupy.cuda.PinnedMemoryPool()
held = pinned.malloc(1000)
del held
assert pinned.n_free_blocks() == 1
pinned.free_all_blocks()
