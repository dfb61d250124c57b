"""The package's contents: the command, the tracer, the software device and the allocator, with nothing of a build on a path."""

import os
import pathlib
import shutil
import subprocess
import sys

import cudagraphkit
import pytest
from conftest import FAKE_TORCH, python_path

PACKAGE = pathlib.Path(cudagraphkit.__file__).parent
PLUGINS = PACKAGE / "lib/graphkit"
TRAIN = """
from cudagraphkit import torch_allocator
torch_allocator.enable()
import torch

side = torch.cuda.Stream()
captured = torch.cuda.CUDAGraph()
with torch.cuda.graph(captured):
    block = torch.empty(4 << 20).zero_()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        block.zero_()
    block.record_stream(side)
    del block
    torch.cuda.current_stream().wait_stream(side)
    block = torch.empty(4 << 20).zero_()
captured.replay()
torch.cuda.synchronize()
print(torch_allocator.figures()["proved_frees"])
"""

pytestmark = pytest.mark.skipif(not (PACKAGE / "bin/graphkit").exists(), reason="built without the command")


def run(folder, *command, **variables):
    """Outside of the repository, in the environment of somebody who has the package alone."""
    ours = ("GRAPHKIT_", "LD_LIBRARY_PATH")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    done = subprocess.run([sys.executable, *command], cwd=folder, capture_output=True, text=True, timeout=120,
                          env=environment | {"PYTHONPATH": python_path(FAKE_TORCH)} | variables)
    assert done.returncode == 0, done.stderr
    return done


def test_the_command_is_of_the_same_version(tmp_path):
    assert run(tmp_path, "-m", "cudagraphkit", "--version").stdout.startswith(f"graphkit {cudagraphkit.__version__}\n")


def test_a_program_is_traced_and_analyzed(tmp_path):
    if not (PLUGINS / "libgraphkit_tracer.so").exists():
        pytest.skip("built without CUDA's headers")
    (tmp_path / "train.py").write_text(TRAIN)
    traced = run(tmp_path, "-m", "cudagraphkit", "trace", "--device", "soft", "--", sys.executable, "train.py")
    assert traced.stdout == "1\n"
    assert f"{tmp_path}/trace.json" in traced.stderr
    assert "graph 0, captured on 2 streams" in run(tmp_path, "-m", "cudagraphkit", "analyze", "trace.json").stdout
    assert len(cudagraphkit.load(tmp_path / "trace.json").graphs) == 1


def test_the_example_is_traced_as_its_trace_shows(tmp_path):
    if not (PLUGINS / "libgraphkit_tracer.so").exists():
        pytest.skip("built without CUDA's headers")
    run(tmp_path, "-m", "cudagraphkit", "example", "demo")
    run(tmp_path, "-m", "cudagraphkit", "trace", "--device", "soft", "-o", "step.json", "demo/record_stream")
    made, kept = (len(cudagraphkit.load(tmp_path / name).nodes) for name in ("step.json", "demo/record_stream.json"))
    assert made == kept == 13


def test_the_doctor_finds_the_plugins_in_the_package(tmp_path):
    if not (PLUGINS / "libgraphkit_tracer.so").exists():
        pytest.skip("built without CUDA's headers")
    words = run(tmp_path, "-m", "cudagraphkit", "doctor").stdout.split()
    assert f"the tracer in {PLUGINS}" in " ".join(words)


def test_a_drawing_needs_no_graphviz_on_the_machine(tmp_path, testdata):
    drawn = tmp_path / "fork_join.svg"
    trace = str(testdata / "traces/soft/fork_join.json")
    run(tmp_path, "-m", "cudagraphkit", "dot", trace, "-o", str(drawn), GVBINDIR=str(tmp_path))
    assert "</svg>" in drawn.read_text()


def test_the_library_exports_its_calls_alone():
    if not shutil.which("nm"):
        pytest.skip("no nm")
    listed = subprocess.run(["nm", "-D", "--defined-only", PACKAGE / "libgraphkit_python.so"], capture_output=True, text=True)
    names = [line.split()[-1] for line in listed.stdout.splitlines()]
    assert len(names) == 7 and all(name.startswith("graphkit_") for name in names), names
