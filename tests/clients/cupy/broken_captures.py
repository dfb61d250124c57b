# errors: capture-invalidated unjoined-stream
"""Captures that break: a stream is waited for in one, and another ends before its side stream has joined."""
import cupy

main, side = (cupy.cuda.Stream(non_blocking=True) for _ in range(2))
values = cupy.zeros(4096, cupy.float32)
cupy.cuda.Device().synchronize()


def fails(call, name):
    try:
        call()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        assert name in str(error), error
    else:
        raise AssertionError(f"no {name}")


main.begin_capture()
fails(main.synchronize, "StreamCaptureUnsupported")
fails(main.end_capture, "StreamCaptureInvalidated")

with main:
    main.begin_capture()
    side.wait_event(main.record(cupy.cuda.Event(disable_timing=True)))
    with side:
        values.data.memset_async(1, values.nbytes)
    fails(main.end_capture, "StreamCaptureUnjoined")
assert not main.is_capturing() and not side.is_capturing()
