# graphkit: nothing
"""A capture that forks to another stream and joins it again; streams made by others and per thread."""
import cupy

main, side = (cupy.cuda.Stream(non_blocking=True) for _ in range(2))
left, right, both = (cupy.zeros(4096, cupy.float32) for _ in range(3))
cupy.add(left, right, out=both)
cupy.cuda.Device().synchronize()

with main:
    main.begin_capture()
    left.data.memset_async(0, left.nbytes)
    forked = main.record(cupy.cuda.Event(disable_timing=True))
    side.wait_event(forked)
    with side:
        assert side.is_capturing()
        right.data.memset_async(0, right.nbytes)
        cupy.add(right, 1, out=right)
        joined = side.record(cupy.cuda.Event(disable_timing=True))
    cupy.add(left, 1, out=left)
    main.wait_event(joined)
    cupy.add(left, right, out=both)
    graph = main.end_capture()
for _ in range(2):
    graph.launch(main)
main.synchronize()

foreign = cupy.cuda.ExternalStream(side.ptr)
with foreign:
    called = []
    cupy.copyto(both, left)
    foreign.launch_host_func(lambda stream: called.append(1), None)
foreign.synchronize()
assert called == [1]
with cupy.cuda.Stream.ptds:
    cupy.copyto(right, both)
cupy.cuda.Stream.ptds.synchronize()
