"""cuda.core: if, if-else, switch and while, built by capture and by explicit calls. Defaults of the handles decide."""
import numpy as np
from cuda.core import Device, LegacyPinnedMemoryResource
from cuda.core.graph import GraphDefinition

device = Device()
device.set_current()
stream = device.create_stream()
host = LegacyPinnedMemoryResource().allocate(4, stream=stream)
values = np.from_dlpack(host).view(np.uint8)
marks = [device.memory_resource.allocate(1, stream=stream) for _ in range(4)]


def launched(graph):
    values[:] = 0
    for mark in marks:
        mark.fill(0, stream=stream)
    graph.launch(stream)
    for place, mark in enumerate(marks):
        stream.sync()
        one = LegacyPinnedMemoryResource().allocate(1, stream=stream)
        mark.copy_to(one, stream=stream)
        stream.sync()
        values[place] = np.from_dlpack(one)[0]
    return values.tolist()


def captured(make, count, default):
    builder = device.create_graph_builder().begin_building()
    made = make(builder, builder.create_condition(default_value=default))
    for body, mark in zip(made if isinstance(made, tuple) else (made,), marks[:count]):
        body.begin_building()
        mark.fill(1, stream=body)
        body.end_building()
    return builder.end_building().complete()


assert launched(captured(lambda b, c: b.if_then(c), 1, 1)) == [1, 0, 0, 0]
assert launched(captured(lambda b, c: b.if_then(c), 1, 0)) == [0, 0, 0, 0]
assert launched(captured(lambda b, c: b.if_else(c), 2, 0)) == [0, 1, 0, 0]
assert launched(captured(lambda b, c: b.switch(c, 4), 4, 2)) == [0, 0, 1, 0]
assert launched(captured(lambda b, c: b.while_loop(c), 1, 0)) == [0, 0, 0, 0]

explicit = GraphDefinition()
either = explicit.if_else(explicit.create_condition(default_value=1))
either.then.memset(int(marks[0].handle), 5, 1)
either.else_.memset(int(marks[1].handle), 6, 1)
either.memset(int(marks[3].handle), 8, 1)
assert launched(explicit.instantiate()) == [5, 0, 0, 8]
