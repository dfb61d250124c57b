"""The bytes that graphkit shows of programs of PyTorch, against torch.cuda.memory_stats of the same runs.

    memory_figures.py --build FOLDER --python PYTHON --name NAME PROGRAM-OR-FOLDER...

Each program runs under `graphkit trace` on the software device. When it ends, its memory statistics and a snapshot are taken
together; `graphkit SNAPSHOT` has to have the same current and peak bytes: reserved, active, allocated, requested. Programs of
several processes, and those that end otherwise than with 0, are left out, which is printed. Ends with the numbers.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from verdicts import heading, processes

KINDS = {"reserved": "reserved", "in_use": "active", "allocated": "allocated", "requested": "requested"}
RUN = """
import json, os, runpy, sys
import torch
sys.argv = sys.argv[1:]
sys.path[0] = os.path.dirname(sys.argv[0])
out = sys.argv.pop()
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
except SystemExit as ended:
    if ended.code not in (None, 0):
        raise
torch.cuda.synchronize()
statistics = {device: torch.cuda.memory_stats(device) for device in range(torch.cuda.device_count())}
torch.cuda.memory._dump_snapshot(out + "/snapshot.pickle")
with open(out + "/statistics.json", "w") as file:
    json.dump(statistics, file)
"""


def run(program, options, folder):
    script = pathlib.Path(folder, "run.py")
    script.write_text(RUN, encoding="utf-8")
    graphkit = options.build.resolve() / "bin/graphkit"
    variables = dict(word.split("=", 1) for word in heading(program, "environment") or [])
    words = [graphkit, "trace", "--device", "soft", *(heading(program, "options") or []), "-o", f"{folder}/trace.json", "--",
             options.python, script, program.resolve(), folder]
    done = subprocess.run(words, cwd=folder, env={**os.environ, **variables}, capture_output=True, text=True, check=False)
    if not pathlib.Path(folder, "statistics.json").exists():
        return None, f"ended with {done.returncode}"
    explained = subprocess.run([graphkit, f"{folder}/snapshot.pickle", "--format", "json"], capture_output=True, text=True, check=False)
    return json.loads(explained.stdout)["devices"], json.loads(pathlib.Path(folder, "statistics.json").read_text(encoding="utf-8"))


def differences(devices, statistics):
    for device in devices:
        stats = statistics[str(device["device"])]
        for ours, theirs in KINDS.items():
            for moment, key in (("end", "current"), (f"peak_{ours}", "peak")):
                found, expected = device[moment][f"{ours}_bytes"], stats.get(f"{theirs}_bytes.all.{key}", 0)
                if found != expected:
                    yield f"{theirs}_bytes {key} is {expected}, not {found}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--name", required=True)
    parser.add_argument("programs", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    programs = [program for place in options.programs for program in (sorted(place.glob("*.py")) if place.is_dir() else [place])]
    equal = failed = left_out = 0
    for program in programs:
        if processes(program) or heading(program, "ranks"):
            left_out += 1
            continue
        with tempfile.TemporaryDirectory() as folder:
            devices, statistics = run(program, options, folder)
        wrong = [] if devices is None else list(differences(devices, statistics))
        equal, failed, left_out = equal + (devices is not None and not wrong), failed + bool(wrong), left_out + (devices is None)
        print(f"{program.name}: " + ("; ".join(wrong) or (f"left out: it {statistics}" if devices is None else "equal")), flush=True)
    print(f"{options.name}: {equal} passed, {failed} failed, {left_out} skipped")
    return 1 if failed or not equal else 0


if __name__ == "__main__":
    sys.exit(main())
