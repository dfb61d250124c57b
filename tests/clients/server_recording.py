"""A server of vLLM or SGLang under GRAPHKIT_RECORD=1: it finds the package by its entry points, and the process with the graphs leaves a
trace while the server runs. The trace has no warning and no error.

    server_recording.py --build FOLDER --python PYTHON --name NAME PROGRAM

The package is that of plugins/python, with `graphkit import` in the place of its C++ part, which the ordinary build lacks.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import tomllib

from verdicts import Failed, heading

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "plugins/python"
NATIVE = """
import subprocess


class Loaded:
    def __init__(self, paths):
        self.paths = paths

    def save(self, path):
        done = subprocess.run([{graphkit!r}, "import", *self.paths, "-o", path], capture_output=True, text=True)
        assert done.returncode in (0, 3), done.stderr
"""
# The engine of PROGRAM, until a process has recorded graphs.
MAIN = """
import glob
import pathlib
import sys
import time

sys.path.insert(0, {folder!r})
import {name}


def recorded():
    return any('"type":"node"' in pathlib.Path(trace).read_text() for trace in glob.glob("trace.*.json"))


if __name__ == "__main__":
    engine = {name}.capture()
    end = time.monotonic() + 120
    while not recorded() and time.monotonic() < end:
        time.sleep(0.2)
    getattr(engine, "shutdown", lambda: None)()
"""
GRAPHS = 4  # of four batch sizes, at least


def install(folder, graphkit):
    """The package, as pip would leave it."""
    made = folder / "site/cudagraphkit"
    shutil.copytree(PACKAGE / "cudagraphkit", made, ignore=shutil.ignore_patterns("__init__.py"))
    (made / "__init__.py").write_text("", encoding="utf-8")
    (made / "_native.py").write_text(NATIVE.format(graphkit=str(graphkit)), encoding="utf-8")
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    info = folder / "site/cudagraphkit-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: cudagraphkit\nVersion: 0\n", encoding="utf-8")
    groups = [f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in points.items()) for group, points in project["entry-points"].items()]
    (info / "entry_points.txt").write_text("\n".join(groups), encoding="utf-8")
    return made.parent


def check(options, folder):
    graphkit = (options.build / "bin/graphkit").resolve()
    soft = options.build.resolve() / "lib/graphkit/soft_cuda"
    variables = dict(word.split("=", 1) for word in heading(options.program, "environment") or [])
    variables |= {"GRAPHKIT_RECORD": "1", "PYTHONPATH": str(install(folder, graphkit)), "LD_LIBRARY_PATH": str(soft),
                  "LD_AUDIT": str(soft / "libgraphkit_soft_audit.so")}
    main = MAIN.format(folder=str(options.program.resolve().parent), name=options.program.stem)
    (folder / "main.py").write_text(main, encoding="utf-8")
    done = subprocess.run([options.python, "main.py"], cwd=folder, env={**os.environ, **variables}, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"ended with {done.returncode}: {done.stderr.strip().splitlines()[-1][:300]}")
    traces = [trace for trace in folder.glob("trace.*.json") if '"type":"node"' in trace.read_text(encoding="utf-8")]
    if len(traces) != 1:
        raise Failed(f"{len(traces)} traces with graphs, not 1: {[line for line in done.stderr.splitlines() if 'graphkit' in line][:3]}")
    analyzed = subprocess.run([graphkit, "analyze", "--format", "json", traces[0]], capture_output=True, text=True, check=False)
    if analyzed.returncode not in (0, 3):
        raise Failed(analyzed.stderr.strip())
    report = json.loads(analyzed.stdout)
    found = [finding["check"] for finding in report["findings"] if finding["severity"] != "note"]
    if found:
        raise Failed(f"findings: {', '.join(found)}")
    captured = [graph for graph in report["graphs"] if graph["nodes_by_type"].get("kernel", 0) > 0]
    if len(captured) < GRAPHS or not report["totals"]["blocks"]:
        raise Failed(f"{len(captured)} graphs with kernels and {report['totals']['blocks']} blocks")
    return f"{len(captured)} graphs with {sum(graph['nodes'] for graph in captured)} nodes, {report['totals']['blocks']} blocks"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--python", required=True)
    parser.add_argument("--name", required=True)
    parser.add_argument("program", type=pathlib.Path)
    options = parser.parse_args()
    if not pathlib.Path(options.python).exists():
        print(f"{options.name}: 0 passed, 0 failed, 1 skipped")
        return
    with tempfile.TemporaryDirectory() as folder:
        try:
            print(f"recorded {options.program.stem}: {check(options, pathlib.Path(folder))}", flush=True)
            passed = 1
        except Failed as error:
            print(f"FAILED {options.program.stem}: {error}", flush=True)
            passed = 0
    print(f"{options.name}: {passed} passed, {1 - passed} failed")
    sys.exit(1 - passed)


main()
