"""Writes a synthetic PyTorch memory snapshot: the shape of torch.cuda.memory._dump_snapshot, any number of events.

    make_snapshot.py [--events N] [--devices N] [--streams N] [--frames DEPTH] [--protocol 2..5] [--seed N] OUT.pickle

Each allocation is freed later, a tenth of the frees is deferred (as after record_stream), some stay alive; blocks lie in
segments of a private and of the default pool. Stacks are shared between events, as PyTorch shares them.
"""

import argparse
import pickle
import random

SEGMENT = 20 << 20
STATES = {True: "active_allocated", False: "inactive"}


def make_stacks(depth: int, count: int, rng: random.Random):
    frames = [{"name": f"layer_{i}", "filename": f"model/layer_{i % 40}.py", "line": 10 + i} for i in range(count)]
    return [[frames[rng.randrange(count)] for _ in range(depth)] for _ in range(count)]


class Device:
    """One device's allocator: slots of fixed size, so that no two live blocks overlap."""

    def __init__(self, index: int, args, rng: random.Random):
        self.index, self.args, self.rng = index, args, rng
        self.stacks = make_stacks(args.frames, 2000, rng) if args.frames else [[]]
        self.events, self.free_slots, self.live, self.deferred = [], [], [], []
        self.segments = []
        self.time = 1_700_000_000_000_000

    def event(self, action: str, addr: int, size: int, stream: int, frames, pool) -> None:
        self.time += 1 + self.rng.randrange(20)
        self.events.append({"action": action, "addr": addr, "size": size, "stream": stream, "time_us": self.time,
                            "compile_context": "N/A", "user_metadata": "", "segment_pool_id": pool, "frames": frames})

    def grow(self) -> None:
        address = 0x7F0000000000 + (self.index << 40) + len(self.segments) * SEGMENT
        stream = self.rng.randrange(self.args.streams)
        pool = (1, 0) if len(self.segments) % 4 == 3 else (0, 0)
        self.segments.append({"device": self.index, "address": address, "total_size": SEGMENT, "stream": stream,
                              "segment_type": "large", "segment_pool_id": pool, "is_expandable": False, "frames": []})
        self.event("segment_alloc", address, SEGMENT, stream, self.stacks[0], pool)
        self.free_slots += [(len(self.segments) - 1, i) for i in range(10)]
        self.rng.shuffle(self.free_slots)

    def alloc(self) -> None:
        if not self.free_slots:
            self.grow()
        segment, slot = self.free_slots.pop()
        owner = self.segments[segment]
        size = 512 * self.rng.randrange(2049, 4097) - self.rng.randrange(512)
        block = (segment, slot, owner["address"] + slot * (2 << 20), size, owner["stream"],
                 self.stacks[self.rng.randrange(len(self.stacks))], owner["segment_pool_id"])
        self.event("alloc", block[2], size, block[4], block[5], block[6])
        self.live.append(block)

    def free(self) -> None:
        place = self.rng.randrange(len(self.live))
        self.live[place], self.live[-1] = self.live[-1], self.live[place]
        block = self.live.pop()
        self.event("free_requested", block[2], block[3], block[4], block[5], block[6])
        if self.rng.random() < 0.1:
            self.deferred.append(block)
        else:
            self.complete(block)

    def complete(self, block) -> None:
        self.event("free_completed", block[2], block[3], block[4], block[5], block[6])
        self.free_slots.append(block[:2])

    def run(self, events: int) -> None:
        while len(self.events) < events:
            if len(self.live) < 400 or self.rng.random() < 0.45:
                self.alloc()
            else:
                self.free()
            if len(self.deferred) > 50:
                self.complete(self.deferred.pop(0))
        for block in self.deferred:
            self.complete(block)
        self.finish()

    def finish(self) -> None:
        used = {block[:2]: block for block in self.live}
        for number, segment in enumerate(self.segments):
            blocks = []
            for slot in range(10):
                block = used.get((number, slot))
                blocks.append({"address": segment["address"] + slot * (2 << 20), "size": 2 << 20,
                               "requested_size": block[3] if block else 0, "state": STATES[block is not None],
                               "frames": block[5] if block else []})
            active = sum(b["size"] for b in blocks if b["state"] == STATES[True])
            segment.update(allocated_size=active, active_size=active,
                           requested_size=sum(b["requested_size"] for b in blocks), blocks=blocks)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--streams", type=int, default=3)
    parser.add_argument("--frames", type=int, default=0)
    parser.add_argument("--protocol", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("out")
    args = parser.parse_args()
    devices = [Device(i, args, random.Random(args.seed + i)) for i in range(args.devices)]
    for device in devices:
        device.run(args.events // args.devices)
    snapshot = {"segments": [s for d in devices for s in d.segments], "device_traces": [d.events for d in devices],
                "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1,
                                       "garbage_collection_threshold": 0.0, "expandable_segments": False,
                                       "graph_capture_record_stream_reuse": False, "roundup_power2_divisions": {}},
                "external_annotations": []}
    with open(args.out, "wb") as file:
        pickle.dump(snapshot, file, protocol=args.protocol)


if __name__ == "__main__":
    main()
