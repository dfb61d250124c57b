"""One memory snapshot as each version of PyTorch writes it: what `graphkit import` says stays the same.

    snapshot_formats.py GRAPHKIT MAKE_SNAPSHOT

Each row of FORMATS turns the snapshot of today's form into another version's. Reserved, requested and the deferred frees have
to come out as Python counts them; what a version leaves out makes the trace incomplete (exit code 3), with the reason.
"""

import copy
import pickle
import re
import subprocess
import sys
import tempfile

from snapshot_totals import by_python, sums


def blocks_of(snapshot):
    return [block for segment in snapshot["segments"] for block in segment["blocks"]]


def events_of(snapshot):
    return [event for events in snapshot["device_traces"] for event in events]


def without(dicts, *keys):
    for entry in dicts:
        for key in keys:
            entry.pop(key, None)


def torch_2_0(s):
    """Before #106079: stacks and sizes in a history of each block; times and pools aren't known."""
    for block in blocks_of(s):
        if block["state"] == "active_allocated":
            block["history"] = [{"addr": block["address"], "real_size": block["requested_size"], "frames": block["frames"]},
                                {"addr": block["address"], "real_size": 7, "frames": []}]
    without(blocks_of(s), "frames", "requested_size", "address")
    without(s["segments"], "frames", "requested_size", "segment_pool_id", "is_expandable")
    without(events_of(s), "time_us", "compile_context", "user_metadata", "segment_pool_id")
    return {"segments": s["segments"], "device_traces": s["device_traces"]}


def torch_2_1(s):
    without(events_of(s), "time_us", "compile_context", "user_metadata", "segment_pool_id")
    return {"segments": s["segments"], "device_traces": s["device_traces"]}


def torch_2_3(s):
    """#119404: allocator_settings; times, but nothing else about events."""
    without(events_of(s), "compile_context", "user_metadata", "segment_pool_id")
    del s["external_annotations"]
    return s


def torch_2_6(s):
    """The profiler's marks, and the user's names of allocations."""
    time = s["device_traces"][0][3]["time_us"]
    s["external_annotations"] = [{"name": "ProfilerStep#1", "stage": stage, "device": 0, "time_us": time + later}
                                 for stage, later in (("START", 0), ("END", 900))]
    for number, event in enumerate(events_of(s)):
        event["user_metadata"] = "step 1" if 100 <= number < 200 else ""
    without(events_of(s), "segment_pool_id")
    return s


def torch_2_12(s):
    """#177717: pool_id of events; #182407: pinned memory; frames with what torch.fx knows; more settings."""
    for event in events_of(s):
        event["pool_id"] = event.pop("segment_pool_id")
        event["device"] = 0
        for frame in event["frames"]:
            frame["fx_node_name"] = "relu_1"
            frame["fx_original_trace"] = 'File "train.py", line 3, in main\n  step()\nFile "original.py", line 12, in forward\n  relu(x)'
    s["host_segments"] = [{"address": 0x5000, "total_size": 4096, "blocks": [{"address": 0x5000, "size": 4096, "state": "active"}]}]
    s["host_traces"] = [{"action": "alloc", "addr": 0x5000, "size": 4096, "stream": 0, "time_us": 1, "frames": []}]
    s["allocator_settings"] |= {"PYTORCH_ALLOC_CONF": "pinned_use_background_threads:True", "per_process_memory_fraction": 1.0,
                                "last_allocator_settings": None, "throw_on_cudamalloc_oom": [True]}
    return s


def torch_2_15(s):
    """#193432: what the allocator says of its own events."""
    for event in events_of(torch_2_12(s))[100:102]:
        event["internal_metadata"] = "mallocWithAddress"
    return s


def with_host_first(s):
    return {"host_traces": torch_2_12(s)["host_traces"], **s}


def mem_pools(s):
    """MemPool and graph_pool_handle(): the second number counts."""
    for owner in s["segments"] + events_of(s):
        first, _ = owner["segment_pool_id"]
        owner["segment_pool_id"] = (0, 3 * first)
    return s


def stackless(s):
    without(blocks_of(s) + events_of(s) + s["segments"], "frames")
    return s


def skipping(action):
    """#168183: skip_actions."""
    def skip(s):
        s["device_traces"] = [[event for event in events if event["action"] != action] for events in s["device_traces"]]
        return s
    return skip


def without_traces(s):
    """#172672: include_traces=False."""
    s["device_traces"] = [[]]
    return s


def no_traces(s):
    del s["device_traces"]
    return s


EARLIER = "of an earlier recording, or whose events were lost"  # the file is whole; `graphkit FILE` says it
NO_HISTORY = "no history of events"
# Version, how it is made, why the trace is incomplete (empty: it isn't).
FORMATS = [
    ("today", lambda s: s, ""),
    ("2.0", torch_2_0, ""),
    ("2.1", torch_2_1, ""),
    ("2.3", torch_2_3, ""),
    ("2.6", torch_2_6, ""),
    ("2.12", torch_2_12, ""),
    ("2.15", torch_2_15, ""),
    ("2.12, pinned memory first", with_host_first, ""),
    ("MemPool", mem_pools, ""),
    ("no stacks", stackless, ""),
    ("without free_requested", skipping("free_requested"), "no free_requested events"),
    ("without free_completed", skipping("free_completed"), "no free_completed events"),
    ("without segment_alloc", skipping("segment_alloc"), ""),
    ("without alloc", skipping("alloc"), EARLIER),
    ("include_traces=False", without_traces, NO_HISTORY),
    ("without device_traces", no_traces, NO_HISTORY),
    ("memory_snapshot()", lambda s: s["segments"], NO_HISTORY),
]


def deferred(snapshot) -> int:
    """Frees that something else happened before the end of."""
    count = 0
    for events in snapshot["device_traces"]:
        for event, later in zip(events, events[1:] + [{"action": ""}]):
            if event["action"] == "free_requested":
                count += later["action"] != "free_completed" or later["addr"] != event["addr"]
    return count


# Of the profiler, and what the user and the allocator said of allocations.
RANGES = {"2.6": ["ProfilerStep#1", "step 1"], "2.15": ["mallocWithAddress"]}


def check(graphkit, name, snapshot, reason, want, folder):
    path = f"{folder}/snapshot.pickle"
    with open(path, "wb") as file:
        pickle.dump(snapshot, file, protocol=4)
    done = subprocess.run([graphkit, "import", path], capture_output=True, text=True, check=False)
    problems = []
    if done.returncode != (3 if reason not in ("", EARLIER) else 0):
        problems.append(f"exit code {done.returncode}")
    said = done.stderr
    if reason == EARLIER:
        said = " ".join(subprocess.run([graphkit, path], capture_output=True, text=True, check=False).stdout.split())
    if reason and reason not in said:
        problems.append(f"{reason!r} isn't said: {said}")
    found = sums(done.stdout) if reason != EARLIER else {}
    if found != {key: want[key] for key in found}:
        problems.append(f"{found} instead of {want}")
    held_back = len(re.findall(r'"type":"free_requested"', done.stdout))
    if not reason and held_back != want["deferred"]:
        problems.append(f"{held_back} deferred frees instead of {want['deferred']}")
    ranges = re.findall(r'"type":"nvtx_push",.*"name":"([^"]*)"', done.stdout)
    if ranges != RANGES.get(name, []):
        problems.append(f"ranges {ranges}")
    if name == "2.12" and ' [relu_1]","original.py",12]' not in done.stdout:
        problems.append("no frame of the line that torch.fx compiled")
    return [f"{name}: {problem}" for problem in problems]


def main() -> int:
    graphkit, make = sys.argv[1:]
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/today.pickle"
        subprocess.run([sys.executable, make, "--events", "3000", "--frames", "5", path], check=True)
        want = by_python(path)
        with open(path, "rb") as file:
            today = pickle.load(file)
        want["deferred"] = deferred(today)
        for name, change, reason in FORMATS:
            problems += check(graphkit, name, change(copy.deepcopy(today)), reason, want, folder)
    print("\n".join(problems + [f"{len(FORMATS)} forms, {len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
