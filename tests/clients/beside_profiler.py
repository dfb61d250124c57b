"""torch.profiler beside cudagraphkit.record(): the profile of a step, its capture and its replays has every event that it has alone,
and CUPTI's one seat is free while the hooks record.

    beside_profiler.py --build FOLDER --python PYTHON --name NAME

On the software device, whose profiles have no events of a GPU.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = """
import collections
import ctypes
import json
import re
import sys

import torch
from recording import recording

model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.GELU(), torch.nn.Linear(256, 64)).cuda()
x = torch.randn(32, 64, device="cuda")


def step():
    with torch.profiler.record_function("step"):
        loss = model(x).sum()
        loss.backward()
        return loss


def run():
    step()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    for _ in range(3):
        graph.replay()
    torch.cuda.synchronize()


def profile():
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities, record_shapes=True, with_stack=True, profile_memory=True) as profiler:
        run()
    profiler.export_chrome_trace("profile.json")
    counts = collections.Counter()
    for event in json.load(open("profile.json"))["traceEvents"]:
        if event.get("ph") == "X" or event.get("name") == "[memory]":
            counts[event.get("cat"), re.sub("0x[0-9a-f]+", "", event["name"])] += 1
    return counts


run()
profiles = []
for number in range(3):  # the first one initializes the profiler
    if number == 2:
        recorder = recording.GraphRecording(torch, "unused.json")
    profiles.append(profile())
_, alone, beside = profiles
library = ctypes.CDLL("libcupti.so.13")
seat, other = ctypes.c_void_p(), ctypes.c_void_p()
callback = ctypes.CFUNCTYPE(None)(lambda: None)
free, taken = library.cuptiSubscribe(ctypes.byref(seat), callback, None), library.cuptiSubscribe(ctypes.byref(other), callback, None)
recorder._ended = True
lost = {key: (count, beside[key]) for key, count in alone.items() if beside[key] < count}
others = {key: count for key, count in beside.items() if key[0] != "python_function" and alone[key] != count}
graphs = recorder._graphs.count["graph"]
print(json.dumps({"events": alone.total(), "lost": str(lost), "others": str(others), "graphs": graphs, "seat": [free, taken],
                  "kinds": sorted({str(key[0]) for key in alone})}))
"""
# What the profile must have for the comparison to say something.
KINDS = {"cpu_op", "python_function", "user_annotation", "cpu_instant_event"}


def check(options, folder):
    soft = options.build.resolve() / "lib/graphkit/soft_cuda"
    device = {"LD_LIBRARY_PATH": str(soft), "LD_AUDIT": str(soft / "libgraphkit_soft_audit.so"),
              "PYTHONPATH": str(pathlib.Path(__file__).resolve().parent)}
    (folder / "program.py").write_text(PROGRAM, encoding="utf-8")
    done = subprocess.run([options.python, "program.py"], cwd=folder, capture_output=True, text=True, env={**os.environ, **device}, check=False)
    if done.returncode != 0:
        return f"ended with {done.returncode}: {done.stderr.strip().splitlines()[-1]}"
    said = json.loads(done.stdout.splitlines()[-1])
    wrong = []
    if said["lost"] != "{}" or said["others"] != "{}":
        wrong.append(f"events lost: {said['lost']}; others: {said['others']}")
    if not KINDS <= set(said["kinds"]) or said["events"] < 500:
        wrong.append(f"only {said['events']} events of {said['kinds']}")
    if said["graphs"] != 1:
        wrong.append(f"{said['graphs']} graphs recorded, not 1")
    if said["seat"] != [0, 39]:
        wrong.append(f"subscribing to CUPTI returned {said['seat']}, not 0 and 39 (CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)")
    print(f"{said['events']} events in the profile, as many of each kind with the hooks" if not wrong else "; ".join(wrong), flush=True)
    return "; ".join(wrong)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--python", required=True)
    parser.add_argument("--name", required=True)
    options = parser.parse_args()
    if not pathlib.Path(options.python).exists():
        print(f"{options.name}: 0 passed, 0 failed, 1 skipped")
        return
    with tempfile.TemporaryDirectory() as folder:
        wrong = check(options, pathlib.Path(folder))
    if wrong:
        print(f"FAILED the profiler beside record(): {wrong}")
    print(f"{options.name}: {int(not wrong)} passed, {int(bool(wrong))} failed")
    sys.exit(1 if wrong else 0)


main()
