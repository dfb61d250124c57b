"""Reads a Perfetto trace that graphkit wrote with Perfetto's own definitions (the Python package perfetto): no field may
be unknown, each slice that begins ends, and every flow begins and ends once.

usage: perfetto_format.py FILE

Exits 77 (skipped) where the package isn't installed.
"""

import collections
import pathlib
import sys

try:
    from google.protobuf.unknown_fields import UnknownFieldSet
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent
except ImportError:
    print("skipped: the Python package perfetto is missing (pip install perfetto)")
    sys.exit(77)


def unknown_fields(message, path: str):
    for field in UnknownFieldSet(message):
        yield f"{path}: unknown field {field.field_number}"
    for descriptor, value in message.ListFields():
        if descriptor.message_type is None:
            continue
        repeated = not hasattr(value, "ListFields")
        for item in value if repeated else [value]:
            yield from unknown_fields(item, f"{path}.{descriptor.name}")


def problems(trace) -> list:
    found = list(unknown_fields(trace, "trace"))
    depth, flows = collections.Counter(), collections.Counter()
    uuids = {p.track_descriptor.uuid for p in trace.packet if p.HasField("track_descriptor")}
    for packet in trace.packet:
        if not packet.HasField("track_event"):
            continue
        event = packet.track_event
        if event.track_uuid not in uuids:
            found.append(f"an event on track {event.track_uuid}, which nobody described")
        step = {TrackEvent.TYPE_SLICE_BEGIN: 1, TrackEvent.TYPE_SLICE_END: -1}.get(event.type, 0)
        depth[event.track_uuid] += step
        flows.update(event.flow_ids)
        flows.subtract(event.terminating_flow_ids)
    found += [f"track {uuid}: slices don't end" for uuid, open_slices in depth.items() if open_slices]
    found += [f"flow {flow}: begins and ends {count} times apart" for flow, count in flows.items() if count]
    return found


def main() -> int:
    trace = Trace()
    trace.ParseFromString(pathlib.Path(sys.argv[1]).read_bytes())
    found = problems(trace)
    print("\n".join(found) or f"{len(trace.packet)} packets are as Perfetto defines them")
    return 1 if found or not trace.packet else 0


if __name__ == "__main__":
    sys.exit(main())
