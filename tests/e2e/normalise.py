"""Makes a trace independent of the run that made it, so that it can be compared and kept.

What stays is the record order, ids, sizes, names, offsets inside memory. What goes is what the system hands out anew
for each process: process and thread ids become dense numbers, handles are numbered in order of appearance, addresses
are moved so that memory lies behind one another in order of appearance (what lay inside a segment keeps its offset),
of stacks it stays what lies below their ends, times, clock readings, call stacks and paths are left out.
"""

import json
import os

FIRST_ADDRESS = 0x1_0000_0000
STACK = 0x7fff_0000_0000
ALIGNMENT = 2 * 1024 * 1024
LEFT_OUT = ("t", "stack", "cupti_path", "tracer", "run")


class Addresses:
    """Where memory is moved to: intervals of old addresses and how far each is moved."""

    def __init__(self):
        self.moved = []  # (old begin, old end, new begin), later ones hide earlier ones
        self.next = FIRST_ADDRESS

    def move(self, address, size):
        for begin, end, new in reversed(self.moved):
            if begin <= address and address + size <= end:
                return new + address - begin
        new = self.next
        self.next += (size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT or ALIGNMENT
        self.moved.append((address, address + size, new))
        return new


class Normaliser:
    def __init__(self):
        self.addresses = Addresses()
        self.handles = 0
        self.on_stack = []  # old addresses

    def record(self, record):
        """The record as it is kept; None: it isn't."""
        kind = record["type"]
        if kind in ("clock", "stack"):
            return None
        kept = {key: value for key, value in record.items() if key not in LEFT_OUT}
        if kept.get("handle", "0x0") != "0x0":
            self.handles += 1  # each appearance is another object: freed handles come again at random
            kept["handle"] = hex(self.handles)
        if kind == "stack_top":
            above = all(address < int(kept["address"], 16) for address in self.on_stack)
            kept["address"] = hex(STACK + (ALIGNMENT if above else -ALIGNMENT))
        elif "address" in kept:
            kept["address"] = hex(self.addresses.move(int(kept["address"], 16), kept["size"]))
        if "host" in kept:
            kept["host"] = [self.host_end(*end) for end in kept["host"]]
        if kind == "process":
            kept["pid"] = 1
            kept["program"] = os.path.basename(kept["program"])
        if kind == "thread":
            kept["tid"] = kept["id"] + 1
        return kept

    def host_end(self, kind, mode, address, length):
        old = int(address, 16)
        if kind == "stack":
            self.on_stack.append(old)
            return [kind, mode, hex(STACK), length]
        return [kind, mode, hex(self.addresses.move(old, length)), length]


def normalise(text):
    """The text of a complete trace file, normalised."""
    lines = text.splitlines()
    normaliser = Normaliser()
    records = []
    for number, line in enumerate(lines[1:], start=2):
        body = line.removesuffix("]}").removesuffix(",")
        try:
            record = normaliser.record(json.loads(body))
        except (ValueError, KeyError) as error:
            raise ValueError(f"line {number}: {error}: {line[:100]}") from error
        if record is not None:
            records.append(record)
    if not records or records[-1]["type"] != "end":
        raise ValueError("the trace has no end record")
    records[-1]["records"] = len(records) - 1
    body = ",\n".join(json.dumps(record, separators=(",", ":"), ensure_ascii=False) for record in records)
    return f"{lines[0]}\n{body}]}}\n"
