"""cudagraphkit.torch_allocator with a stand-in for PyTorch, on the software device: traced, planned, and run as planned.

    end_to_end.py --graphkit GRAPHKIT --library LIBRARY [name…]
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parents[2]
FAKE = REPOSITORY / "tests/plugins/torch_hook/fake"
MODULE = REPOSITORY / "plugins/python/cudagraphkit/torch_allocator.py"
MIB = 1 << 20

# Layers whose activations are also read on a side stream, as gradient reductions are.
TRAIN = """
import importlib.util, os, sys
spec = importlib.util.spec_from_file_location("cudagraphkit.torch_allocator", os.environ["MODULE"])
torch_allocator = sys.modules["cudagraphkit.torch_allocator"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(torch_allocator)

import torch
torch_allocator.enable()
side = torch.cuda.Stream()

def layer(size):
    activations = torch.empty(size).zero_()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        activations.zero_()
    activations.record_stream(side)
    del activations
    torch.cuda.current_stream().wait_stream(side)

def step(sizes):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for size in sizes:
            layer(size)
        output = torch.empty(1 << 20).zero_()
    graph.replay()
    return graph, output

extra = [3 << 20] * int(os.environ.get("EXTRA", "0"))
kept = [step([4 << 20, 6 << 20, *extra, 4 << 20, 5 << 20])]
torch.cuda.synchronize()
before = torch.cuda.max_memory_reserved()
torch.cuda.reset_peak_memory_stats()
print(torch.cuda.memory_allocated(0), before, torch.cuda.memory_stats()["num_ooms"])
"""
# Work between launches in the graph's memory, given back in time, and once late.
BORROW = TRAIN.split("import torch\n")[0] + """
import torch
torch_allocator.enable()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    inside = torch.empty(40 << 20).zero_()
    del inside
graph.replay()
with torch_allocator.borrow(graph) as lent:
    scores = torch.empty(30 << 20)
    del scores
    print(lent.bytes)
graph.replay()
def tried(action):
    try:
        action()
        print("done")
    except RuntimeError as error:
        print(error)
def late():
    global kept
    with torch_allocator.borrow(graph):
        kept = torch.empty(3 << 20)
tried(late)
tried(graph.replay)
kept = None
tried(graph.replay)
"""
ARGUMENTS = None


class Run:
    """A program in a folder of its own, under `graphkit trace` unless traced is False."""

    def __init__(self, folder, traced=True, program=TRAIN, **variables):
        self.path = pathlib.Path(folder)
        (self.path / "train.py").write_text(program)
        environment = dict(os.environ, PYTHONPATH=str(FAKE), MODULE=str(MODULE),
                           GRAPHKIT_TORCH_ALLOCATOR=ARGUMENTS.library, GRAPHKIT_ALLOCATOR_REPORT="report.json", **variables)
        command = [sys.executable, "train.py"]
        if traced:
            command = [ARGUMENTS.graphkit, "trace", "--device", "soft", "--", *command]
        else:
            soft = str(pathlib.Path(ARGUMENTS.library).parent / "soft_cuda")
            environment["LD_LIBRARY_PATH"] = soft
        done = subprocess.run(command, cwd=self.path, capture_output=True, text=True, timeout=120, env=environment)
        assert done.returncode == 0, done.stderr
        self.err, self.out = done.stderr, done.stdout
        report = json.loads((self.path / "report.json").read_text())
        assert (report["schema"], report["version"]) == ("graphkit-allocator-report", 1)
        self.report, (self.figures,) = report, report["devices"]


def graphkit(folder, *arguments):
    done = subprocess.run([ARGUMENTS.graphkit, *arguments], cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def records(folder, kind):
    with open(pathlib.Path(folder) / "trace.json") as file:
        return [record for record in json.load(file)["records"] if record["type"] == kind]


def test_memory_that_crossed_streams_is_reused_inside_the_capture(folder):
    run = Run(folder)
    assert run.figures["captured_mallocs"] == 5 and run.figures["record_streams"] == 4
    assert run.figures["proved_frees"] == 4 and run.figures["deferred_frees"] == 0
    assert run.figures["reserved_bytes"] == 20 * MIB + 2 * MIB, "one segment for the layers, one for the small output"
    assert "isn't recorded" not in run.err, run.err


def test_torch_s_own_statistics_are_the_allocator_s(folder):
    assert Run(folder).out.split() == [str(MIB), str(22 * MIB), "0"]


def test_the_trace_has_each_event_exactly(folder):
    Run(folder)
    blocks = records(folder, "alloc")
    in_pool = [b for b in blocks if "segment" in b]
    assert [b["size"] for b in in_pool] == [4 * MIB, 6 * MIB, 4 * MIB, 5 * MIB, MIB]
    assert len({b["address"] for b in in_pool[:4]}) == 1
    assert [r["memory"] for r in records(folder, "record_stream")] == [b["id"] for b in in_pool[:4]]
    assert len(records(folder, "free_requested")) == len(records(folder, "free_completed")) == 4
    assert [p["name"] for p in records(folder, "pool") if p["kind"] in ("private", "allocator")] == ["pool 1.0"]
    analysis = json.loads(graphkit(folder, "analyze", "trace.json", "--format", "json"))
    assert analysis["complete"] and analysis["device"] == "soft"
    assert analysis["graphs"][0]["blocks"] == 5


def test_a_plan_of_the_trace_is_honoured(folder):
    Run(folder)
    graphkit(folder, "plan", "trace.json", "--assume", "torch-streams", "-o", "plan.json")
    plan = json.loads((pathlib.Path(folder) / "plan.json").read_text())
    run = Run(folder, GRAPHKIT_PLAN="plan.json")
    assert run.figures["planned"] == 5 and run.report["plan_read"]
    assert [run.figures[f"plan_{what}"] for what in ("departures", "refusals", "unused")] == [0, 0, 0]
    assert run.figures["reserved_bytes"] == plan["peak_bytes"]


def test_a_program_that_departs_from_the_plan_is_served_and_counted(folder):
    Run(folder)
    graphkit(folder, "plan", "trace.json", "--assume", "torch-streams", "-o", "plan.json")
    run = Run(folder, traced=False, GRAPHKIT_PLAN="plan.json", EXTRA="2")
    assert run.figures["planned"] == 5 and run.figures["plan_departures"] == 2


def test_a_plan_that_can_not_be_read_is_said_and_harmless(folder):
    run = Run(folder, traced=False, GRAPHKIT_PLAN="none.json")
    assert not run.report["plan_read"] and run.figures["planned"] == 0
    assert "going on without a plan" in run.err


def test_what_is_borrowed_lies_in_the_graph_s_memory_and_a_late_return_is_caught(folder):
    run = Run(folder, traced=False, program=BORROW, GRAPHKIT_BORROW="1")
    lent, late, launch, after = run.out.splitlines()
    assert lent == str(40 * MIB) and run.figures["reserved_bytes"] == 40 * MIB
    assert run.figures["borrowed"] == 2 and run.figures["peak_borrowed_bytes"] == 30 * MIB
    assert "isn't given back: 3145728 bytes allocated at train.py:" in late and late.endswith(" late"), late
    assert "is launched at train.py:" in launch and "is given back: 3145728 bytes" in launch, launch
    assert after == "done"


def test_the_runtime_of_cuda_12_is_as_good(folder):
    run = Run(folder, traced=False, FAKE_TORCH_CUDART="libcudart.so.12")
    assert run.figures["proved_frees"] == 4


def test_the_library_exports_its_functions_alone_and_needs_no_cuda(folder):
    symbols = subprocess.run(["nm", "-D", "--defined-only", ARGUMENTS.library], capture_output=True, text=True, check=True)
    exported = {line.split()[-1] for line in symbols.stdout.splitlines()}
    wanted = (REPOSITORY / "plugins/torch_allocator/exports.map").read_text().split("global:")[1].split("local:")[0]
    assert exported == set(wanted.replace(";", " ").split())
    needed = subprocess.run(["readelf", "-d", ARGUMENTS.library], capture_output=True, text=True, check=True)
    assert not [line for line in needed.stdout.splitlines() if "NEEDED" in line and ("cuda" in line or "cupti" in line)]


def main():
    global ARGUMENTS
    parser = argparse.ArgumentParser()
    parser.add_argument("--graphkit", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("names", nargs="*")
    ARGUMENTS = parser.parse_args()
    ARGUMENTS.graphkit, ARGUMENTS.library = (os.path.abspath(p) for p in (ARGUMENTS.graphkit, ARGUMENTS.library))
    tests = {name: test for name, test in globals().items() if name.startswith("test_")}
    for name in ARGUMENTS.names or tests:
        with tempfile.TemporaryDirectory() as folder:
            tests[name](folder)
        print("passed", name)


if __name__ == "__main__":
    main()
