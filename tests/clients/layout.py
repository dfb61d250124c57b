"""`graphkit diff --layout` of one program of PyTorch, run again as it was, and with one asymmetry: equal runs give nothing, and
the call that differs is named.

    layout.py --build FOLDER --python PYTHON --name NAME
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = """
import sys

import torch

fault = sys.argv[1]
model = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 256)).cuda()
tables, kept = {}, []


def table():  # made at the first use
    if not tables:
        tables["sizes"] = torch.zeros(3 << 20, dtype=torch.uint8, device="cuda")
    return tables["sizes"]


def step(x):
    return model(x) + table()[0]


def capture(rows):
    x = inputs[rows]
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = step(x)
    kept.append((graph, x, y))


def warm_up():
    kept.append(step(torch.zeros(64, 256, device="cuda")))


with torch.inference_mode():
    scratch = torch.zeros(40 << 20, dtype=torch.uint8, device="cuda")
    del scratch
    if fault == "release":
        torch.cuda.empty_cache()
    if fault != "initialization":
        table()
    for _ in range(4 if fault == "warm_up" else 2):
        warm_up() if fault != "initialization" else None
    late = torch.zeros((9 if fault == "size" else 5) << 20, dtype=torch.uint8, device="cuda")
    inputs = {rows: torch.zeros(rows, 256, device="cuda") for rows in (64, 32)}
    for rows in (32, 64) if fault == "order" else (64, 32):
        capture(rows)
    for graph, *_ in kept[-2:]:
        graph.replay()
torch.cuda.synchronize()
"""

# By asymmetry: the check of the first finding, and what it has to have.
ASYMMETRIES = {
    "release": "layout-release",
    "initialization": "layout-capture",
    "warm_up": "layout-warm-up",
    "order": "layout-capture-order",
    "size": "layout-size",
}


def trace(options, program, fault, out):
    words = [options.build.resolve() / "bin/graphkit", "trace", "--device", "soft", "-o", out, "--", options.python, program, fault]
    subprocess.run(words, check=True, cwd=program.parent, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def findings(options, before, after):
    words = [options.build.resolve() / "bin/graphkit", "diff", "--layout", "--format", "json", before, after]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return json.loads(done.stdout)["findings"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--name", required=True)
    options = parser.parse_args()
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "program.py")
        program.write_text(PROGRAM, encoding="utf-8")
        first = pathlib.Path(folder, "first.json")
        trace(options, program, "none", first)
        for fault in ("none", *ASYMMETRIES):
            other = pathlib.Path(folder, f"{fault}.json")
            trace(options, program, fault, other)
            found = findings(options, first, other)
            checks = [finding["check"] for finding in found]
            if checks[:1] != ([ASYMMETRIES[fault]] if fault != "none" else []) or (found and f"{program.name}:" not in found[0]["message"]):
                failed.append(f"{options.name}: {fault}: found {[finding['message'] for finding in found]}")
    print(*failed, f"{options.name}: {1 + len(ASYMMETRIES) - len(failed)} passed, {len(failed)} failed", sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
