"""Memory of a graph that is lent between its launches, under PyTorch on the software device.

    borrowing.py --build FOLDER --python PYTHON --name NAME

Runs allocator/borrow.py traced, with and without lending: late returns, launches and captures inside are caught by the program
itself; what is reserved must be less by what is lent, and the trace gets no warning. Where PYTHON isn't there, it is skipped.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

PARSER = argparse.ArgumentParser()
PARSER.add_argument("--build", type=pathlib.Path, required=True)
PARSER.add_argument("--python", required=True)
PARSER.add_argument("--name", required=True)
OPTIONS = PARSER.parse_args()
BUILD = OPTIONS.build.resolve()
PROGRAM = pathlib.Path(__file__).resolve().parent / "allocator/borrow.py"
LENT = 48 << 20  # bytes that the program borrows at once


def run(command):
    variables = {"GRAPHKIT_TORCH_ALLOCATOR": str(BUILD / "lib/graphkit/libgraphkit_torch_allocator.so")}
    done = subprocess.run(list(map(str, command)), env={**os.environ, **variables}, capture_output=True, text=True, check=False,
                          timeout=600)
    if done.returncode != 0:
        raise RuntimeError(f"{command[1]} ended with {done.returncode}: {(done.stderr.splitlines() or [''])[-1][:300]}")
    return done.stdout


def reserved(folder, *words):
    trace = pathlib.Path(folder, "trace.json")
    said = run([BUILD / "bin/graphkit", "trace", "--device", "soft", "-o", trace, "--", OPTIONS.python, PROGRAM, *words])
    found = json.loads(run([BUILD / "bin/graphkit", "analyze", trace, "--format", "json"]))["findings"]
    alarms = [finding["message"] for finding in found if finding["severity"] != "note"]
    if alarms:
        raise RuntimeError(f"a warning: {alarms[0]}")
    return next(int(line.split()[1]) for line in said.splitlines() if line.startswith("reserved "))


def main():
    if not pathlib.Path(OPTIONS.python).exists():
        print(f"skipped: {OPTIONS.name} isn't installed: tools/test.sh --clients installs it")
        print(f"{OPTIONS.name}: 0 passed, 0 failed, 1 skipped")
        return
    try:
        with tempfile.TemporaryDirectory() as folder:
            lending, without = reserved(folder), reserved(folder, "without")
        if without - lending < LENT:
            raise RuntimeError(f"{lending} bytes reserved with lending, {without} without")
        print(f"passed {OPTIONS.name} borrow: {lending >> 20} MiB reserved, {without >> 20} MiB without lending")
        print(f"{OPTIONS.name}: 1 passed, 0 failed, 0 skipped")
    except RuntimeError as error:
        print(f"FAILED {OPTIONS.name} borrow: {error}")
        print(f"{OPTIONS.name}: 0 passed, 1 failed, 0 skipped")
        sys.exit(1)


main()
