# errors: capture-invalidated unjoined-stream
"""cuda.core: captures that break: their stream is waited for, or a fork doesn't join."""
from cuda.core import Device

device = Device()
device.set_current()
stream = device.create_stream()
memory = device.memory_resource.allocate(4096, stream=stream)


def fails(call, name):
    try:
        call()
    except Exception as error:
        assert name in str(error), error
    else:
        raise AssertionError(f"no {name}")


builder = device.create_graph_builder().begin_building("relaxed")
memory.fill(1, stream=builder)
fails(builder.stream.sync, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED")
fails(builder.end_building, "has been invalidated")
fails(builder.close, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED")

builder = device.create_graph_builder().begin_building()
first, second = builder.split(2)
memory.fill(1, stream=second)
fails(first.end_building, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED")
memory.close(stream)
