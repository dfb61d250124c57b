"""The totals that `graphkit import` says of snapshots, against those that Python's pickle module gives.

    snapshot_totals.py GRAPHKIT MAKE_SNAPSHOT FILE…

Summed up as torch.cuda._memory_viz segsum does: reserved is the sum of segments, requested that of the blocks in use. Then
the same for synthetic snapshots of every protocol, with and without stacks, and of several devices.
"""

import pickle
import re
import subprocess
import sys
import tempfile

LINE = re.compile(r"([\d,]+) segments, .* reserved, .* in ([\d,]+) active blocks .*, ([\d,]+) events")


def by_python(path: str) -> dict:
    with open(path, "rb") as file:
        snapshot = pickle.load(file)
    blocks = [b for s in snapshot["segments"] for b in s["blocks"] if b["state"] == "active_allocated"]
    return {"segments": len(snapshot["segments"]), "blocks": len(blocks),
            "events": sum(len(events) for events in snapshot["device_traces"]),
            "reserved": sum(s["total_size"] for s in snapshot["segments"]),
            "requested": sum(b["requested_size"] for b in blocks)}


def by_graphkit(graphkit: str, path: str) -> dict:
    done = subprocess.run([graphkit, "import", "torch-snapshot", path], capture_output=True, text=True, check=False)
    found = LINE.search(done.stderr)
    if done.returncode not in (0, 3) or not found:
        raise SystemExit(f"{path}: exit code {done.returncode}: {done.stderr}")
    segments, blocks, events = (int(text.replace(",", "")) for text in found.groups())
    return {"segments": segments, "blocks": blocks, "events": events, **sums(done.stdout)}


def sums(trace: str) -> dict:
    """The memory at the end of a trace: segments, and blocks that aren't a segment's memory."""
    drivers, live, reserved = set(), {}, {}
    for line in trace.splitlines():
        kind = re.match(r'\{"type":"(\w+)"', line)
        number = {key: int(value) for key, value in re.findall(r'"(id|size|pool|memory|segment)":(\d+)', line)}
        match kind and kind[1]:
            case "pool" if '"kind":"device"' in line:
                drivers.add(number["id"])
            case "alloc" if number["pool"] not in drivers:
                live[number["id"]] = number["size"]
            case "free" | "free_requested":
                live.pop(number["memory"], None)
            case "segment":
                reserved[number["id"]] = number["size"]
            case "segment_freed":
                reserved.pop(number["segment"])
    return {"reserved": sum(reserved.values()), "requested": sum(live.values())}


def main() -> int:
    graphkit, make, *files = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        for protocol in (2, 3, 4, 5):
            for extra in ([], ["--frames", "12"], ["--devices", "3"]):
                path = f"{folder}/{protocol}-{len(files)}.pickle"
                options = ["--events", "2000", "--protocol", str(protocol), *extra]
                subprocess.run([sys.executable, make, *options, path], check=True)
                files.append(path)
        bad = [path for path in files if by_python(path) != by_graphkit(graphkit, path)]
    for path in bad:
        print(f"{path}: the totals differ")
    print(f"{len(files)} snapshots, {len(bad)} with other totals")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
