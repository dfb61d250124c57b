"""The bytes that `graphkit FILE` prints of snapshots, against the definitions of torch.cuda.memory_stats.

    snapshot_bytes.py GRAPHKIT FILE-OR-FOLDER…

The reference keeps the allocator's list of blocks, segment by segment, and follows the recorded events: a request takes a
free block, of which the rest is split off or not (should_split); a free is allocated bytes less when it is requested, active
and requested bytes less when it is complete; free neighbours are merged. At the end the lists have to be those of the file:
where they aren't, the file's history can't be followed, and only the figures at the end are compared.
"""

import bisect
import json
import os
import pickle
import re
import subprocess
import sys

KINDS = {"reserved": "peak_reserved", "in_use": "peak_in_use", "allocated": "peak_allocated", "requested": "peak_requested"}
MEBIBYTE = 1 << 20


def load(path: str) -> dict:
    if path.endswith(".zst"):
        return pickle.loads(subprocess.run(["zstd", "-dc", path], capture_output=True, check=True).stdout)
    with open(path, "rb") as file:
        return pickle.load(file)


class Rules:
    def __init__(self, settings: dict):
        self.max_split = settings.get("max_split_size", -1)
        self.max_split = self.max_split if self.max_split > 0 else float("inf")
        self.expandable = bool(settings.get("expandable_segments"))
        self.divisions = {int(name): steps for name, steps in settings.get("roundup_power2_divisions", {}).items()}

    def rounded(self, size: int) -> int:
        steps = self.divisions.get(1 << min(max(size.bit_length() - 21, 0), 15), 0)
        if steps > 1 and size > 512 * steps and size & (size - 1):
            step = (1 << size.bit_length() - 1) // steps
            return -(-size // step) * step
        return max(-(-size // 512) * 512, 512)

    def splits(self, rounded: int, free: int, expandable: bool) -> bool:
        if rounded <= MEBIBYTE or self.expandable or expandable:
            return free - rounded >= 512
        return rounded < self.max_split and free - rounded > MEBIBYTE


class Allocator:
    """Blocks as [address, size, state, requested] in lists by segment; of expandable segments only the blocks in use."""

    def __init__(self, rules: Rules):
        self.rules, self.segments, self.begins, self.paged = rules, {}, [], {}
        self.now = dict.fromkeys(KINDS, 0)
        self.wrong = 0

    def add_segment(self, address: int, blocks: list) -> None:
        self.segments[address] = blocks
        bisect.insort(self.begins, address)
        self.now["reserved"] += sum(block[1] for block in blocks)

    def remove_segment(self, address: int) -> None:
        blocks = self.segments.pop(address)
        self.begins.remove(address)
        self.now["reserved"] -= sum(block[1] for block in blocks)
        self.wrong += len(blocks) != 1 or blocks[0][2] != "free"

    def find(self, address: int):
        at = bisect.bisect_right(self.begins, address) - 1
        blocks = self.segments[self.begins[at]] if at >= 0 else []
        for i, block in enumerate(blocks):
            if block[0] == address:
                return blocks, i
        return None, 0

    def count(self, block: list) -> None:
        self.now["in_use"] += block[1]
        self.now["requested"] += block[3]
        self.now["allocated"] += block[1] if block[2] == "used" else 0

    def allocate(self, address: int, requested: int) -> None:
        rounded = self.rules.rounded(requested)
        blocks, i = self.find(address)
        if blocks is None:
            self.paged[address] = [address, rounded, "used", requested]
            self.count(self.paged[address])
            return
        block = blocks[i]
        self.wrong += block[2] != "free" or block[1] < rounded
        if self.rules.splits(rounded, block[1], False):
            blocks.insert(i + 1, [address + rounded, block[1] - rounded, "free", 0])
            block[1] = rounded
        block[2:] = ["used", requested]
        self.count(block)

    def request_free(self, address: int) -> None:
        blocks, i = self.find(address)
        block = self.paged[address] if blocks is None else blocks[i]
        self.wrong += block[2] != "used"
        block[2] = "pending"
        self.now["allocated"] -= block[1]

    def complete_free(self, address: int) -> None:
        blocks, i = self.find(address)
        block = self.paged.pop(address) if blocks is None else blocks[i]
        self.wrong += block[2] != "pending"
        self.now["in_use"] -= block[1]
        self.now["requested"] -= block[3]
        block[2:] = ["free", 0]
        if blocks is None:
            return
        for left in (i, i - 1):  # with the one behind it, then with the one before it
            if 0 <= left < len(blocks) - 1 and blocks[left][2] == blocks[left + 1][2] == "free":
                blocks[left][1] += blocks.pop(left + 1)[1]


def blocks_at_end(segment: dict):
    address = segment["address"]
    for block in segment["blocks"]:
        state = {"active_allocated": "used", "inactive": "free"}.get(block["state"], "pending")
        yield [block.get("address", address), block["size"], state, 0 if state == "free" else block["requested_size"]]
        address = block.get("address", address) + block["size"]


def start(snapshot: dict, device: int, rules: Rules) -> Allocator:
    """The memory before the first event."""
    events = snapshot["device_traces"][device]
    segments, paged, live, pending, before = {}, 0, set(), set(), {}
    at_end = {}
    for segment in snapshot["segments"]:
        if segment["device"] != device:
            continue
        if segment.get("is_expandable"):
            paged += segment["total_size"]
        else:
            segments[segment["address"]] = segment["total_size"]
        at_end.update((block[0], block) for block in blocks_at_end(segment) if block[2] != "free")
    for event in reversed(events):
        if event["action"] == "segment_alloc":
            segments.pop(event["addr"])
        elif event["action"] == "segment_free":
            segments[event["addr"]] = event["size"]
        elif event["action"] in ("segment_map", "segment_unmap"):
            paged += event["size"] if event["action"] == "segment_unmap" else -event["size"]
    for event in events:
        address, action = event.get("addr"), event["action"]
        if action == "alloc":
            live.add(address)
        elif action == "free_requested":
            if address not in live:
                before[address] = [address, 0, "used", event["size"]]
            live.discard(address)
            pending.add(address)
        elif action == "free_completed":
            if address not in pending:
                before[address] = [address, 0, "pending", event["size"]]
            pending.discard(address)
    for address, block in at_end.items():
        if address not in live and address not in pending:
            before[address] = list(block)
    allocator = Allocator(rules)
    allocator.now["reserved"] = paged
    for begin, size in segments.items():
        blocks, at, end = [], begin, begin + size
        inside = sorted(block for address, block in before.items() if begin <= address < end)
        for block, after in zip(inside, [b[0] for b in inside[1:]] + [end]):
            if block[0] > at:
                blocks.append([at, block[0] - at, "free", 0])
            free = after - block[0]
            rounded = rules.rounded(block[3])
            block[1] = block[1] or (rounded if rules.splits(rounded, free, False) else free)
            blocks.append(block)
            at = block[0] + block[1]
        if at < end:
            blocks.append([at, end - at, "free", 0])
        allocator.add_segment(begin, blocks)
    for address, block in before.items():
        if allocator.find(address)[0] is None:
            block[1] = block[1] or rules.rounded(block[3])
            allocator.paged[address] = block
        allocator.count(block)
    return allocator


def follow(allocator: Allocator, events: list) -> dict:
    peaks = {kind: (bytes, 0) for kind, bytes in allocator.now.items()}
    for number, event in enumerate(events):
        address, action = event.get("addr"), event["action"]
        if action == "alloc":
            allocator.allocate(address, event["size"])
        elif action == "free_requested":
            allocator.request_free(address)
        elif action == "free_completed":
            allocator.complete_free(address)
        elif action == "segment_alloc":
            allocator.add_segment(address, [[address, event["size"], "free", 0]])
        elif action == "segment_free":
            allocator.remove_segment(address)
        elif action in ("segment_map", "segment_unmap"):
            allocator.now["reserved"] += event["size"] if action == "segment_map" else -event["size"]
        for kind, bytes in allocator.now.items():
            if bytes > peaks[kind][0]:
                peaks[kind] = (bytes, number)
    return peaks


def expected(snapshot: dict, device: int) -> dict:
    segments = [segment for segment in snapshot["segments"] if segment["device"] == device]
    used = [block for segment in segments for block in blocks_at_end(segment) if block[2] != "free"]
    result = {"end": {"reserved": sum(segment["total_size"] for segment in segments),
                      "in_use": sum(block[1] for block in used),
                      "allocated": sum(block[1] for block in used if block[2] == "used"),
                      "requested": sum(block[3] for block in used)}}
    if not any(segment.get("is_expandable") for segment in segments):
        lists = [list(blocks_at_end(segment)) for segment in segments]
        in_use = [blocks for blocks in lists if any(block[2] != "free" for block in blocks)]
        gaps = [block[1] for blocks in in_use for block in blocks if block[2] == "free"]
        result["idle"] = {"gaps": len(gaps), "gap_bytes": sum(gaps), "empty_segments": len(lists) - len(in_use)}
    allocator = start(snapshot, device, Rules(snapshot.get("allocator_settings", {})))
    peaks = follow(allocator, snapshot["device_traces"][device])
    ours = {(block[0], block[1]) for blocks in allocator.segments.values() for block in blocks if block[2] != "free"}
    ours |= {(block[0], block[1]) for block in allocator.paged.values()}
    if ours == {(block[0], block[1]) for block in used} and allocator.wrong == 0:
        result["peaks"] = peaks
    return result


def found(graphkit: str, path: str) -> dict:
    done = subprocess.run([graphkit, path, "--format", "json"], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3):
        raise SystemExit(f"{path}: exit code {done.returncode}: {done.stderr}")
    return {device["device"]: device for device in json.loads(done.stdout)["devices"]}


def differences(path: str, want: dict, got: dict) -> list:
    pairs = [(f"{kind} at the end", bytes, got["end"][kind + "_bytes"]) for kind, bytes in want["end"].items()]
    pairs += [(key, value, got["idle_at_end"][key]) for key, value in want.get("idle", {}).items()]
    for kind, (bytes, number) in want.get("peaks", {}).items():
        pairs.append(("peak " + kind, bytes, got[KINDS[kind]][kind + "_bytes"]))
        if kind == "in_use" and got["peak_event"] is not None:
            pairs.append(("event of the peak", number, got["peak_event"]))
    return [f"{path}: {name}: {expected}, not {actual}" for name, expected, actual in pairs if expected != actual]


def main() -> int:
    graphkit, *places = sys.argv[1:]
    files = []
    for place in places:
        for folder, _, names in os.walk(place):
            files += [os.path.join(folder, name) for name in names if re.search(r"\.pickle(\.zst)?$", name)]
        files += [place] if os.path.isfile(place) else []
    bad = []
    for path in sorted(files):
        snapshot, devices = load(path), found(graphkit, path)
        for device in devices:
            want = expected(snapshot, device)
            bad += differences(path, want, devices[device])
            bad += [] if "peaks" in want else [f"{path}: device {device}: the blocks at the end don't follow from the history"]
    print("\n".join(bad))
    print(f"{len(files)} snapshots, {len(bad)} differences")
    return 1 if bad or not files else 0


if __name__ == "__main__":
    sys.exit(main())
