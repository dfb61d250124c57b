"""Runs graphkit's commands the way a user does, and says what is wrong with what they give."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree

SKIPPED = 77
TIMEOUT_S = 300

# The parts of its program's environment that a trace records (docs/format.md, "process"), and the tracer's settings: a
# golden trace must not depend on the caller's.
RECORDED = {"CUBLAS_WORKSPACE_CONFIG", "CUDA_DEVICE_MAX_CONNECTIONS", "NCCL_GRAPH_REGISTER", "PYTORCH_ALLOC_CONF",
            "PYTORCH_CUDA_ALLOC_CONF", "TORCH_NCCL_AVOID_RECORD_STREAMS"}


def environment():
    """This process's, without what would show in a trace; what GRAPHKIT_TEST_PRELOAD names (a sanitizer's runtime) is
    loaded first."""
    kept = {name: value for name, value in os.environ.items()
            if name not in RECORDED and not name.startswith("GRAPHKIT_TRACE_")}
    preload = os.environ.get("GRAPHKIT_TEST_PRELOAD")
    return {**kept, "LD_PRELOAD": preload} if preload else kept


class Failure(Exception):
    """A failed expectation; one or more lines."""


class Graphkit:
    """The binary under test, and a folder for what it writes."""

    def __init__(self, binary, folder):
        self.binary = pathlib.Path(binary).resolve()
        self.folder = pathlib.Path(folder).resolve()
        self.folder.mkdir(parents=True, exist_ok=True)

    def run(self, arguments, exit_code=0):
        """stdout of the command; a Failure with all it said unless it ends with exit_code, or with one of several."""
        command = [str(self.binary), *map(str, arguments)]
        done = subprocess.run(command, cwd=self.folder, env=environment(), capture_output=True, text=True,
                              timeout=TIMEOUT_S)
        if done.returncode not in (exit_code if isinstance(exit_code, tuple) else (exit_code,)):
            raise Failure(f"{' '.join(command)}\nended with {done.returncode}, expected {exit_code}\n"
                          f"stdout:\n{done.stdout[-2000:]}\nstderr:\n{done.stderr[-4000:]}")
        return done.stdout

    def trace(self, program, arguments, name, exit_code=0):
        """Traces a program on the software device: the trace's path and what the program printed."""
        path = self.folder / f"{name}.json"
        path.unlink(missing_ok=True)
        stdout = self.run(["trace", "--device", "soft", "-o", path, program, *arguments], exit_code)
        if not path.exists():
            raise Failure(f"graphkit trace wrote no {path}")
        return path, stdout

    def analyze(self, trace, exit_code=0):
        return json.loads(self.run(["analyze", "--format", "json", trace], exit_code))

    def draw(self, trace):
        """Draws the trace as SVG and parses it: how many nodes, edges and clusters the drawing has."""
        path = trace.with_suffix(".svg")
        path.unlink(missing_ok=True)
        self.run(["dot", trace, "-o", path])
        try:
            root = xml.etree.ElementTree.parse(path).getroot()
        except (OSError, xml.etree.ElementTree.ParseError) as error:
            raise Failure(f"{path} is no well-formed SVG: {error}") from error
        if not root.tag.endswith("svg"):
            raise Failure(f"{path}: the root element is {root.tag}, not svg")
        classes = [element.get("class") for element in root.iter()]
        return {"nodes": classes.count("node"), "edges": classes.count("edge"), "clusters": classes.count("cluster")}


def run_test(check, folder):
    """The main() of a test: check(a Graphkit that writes into the folder, the folder of the workloads)."""
    parser = argparse.ArgumentParser()
    for option in ("--graphkit", "--workloads", "--out"):
        parser.add_argument(option, type=pathlib.Path, required=True)
    options = parser.parse_args()
    try:
        check(Graphkit(options.graphkit, options.out / folder), options.workloads.resolve())
    except Failure as failure:
        sys.exit(str(failure))
