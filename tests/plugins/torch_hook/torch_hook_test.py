"""`graphkit trace -- python train.py` on the software device, with a stand-in for PyTorch (fake/torch).

    torch_hook_test.py --graphkit GRAPHKIT --nvtx LIBRARY [name…]
"""

import argparse
import json
import os
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile

FAKE = pathlib.Path(__file__).resolve().parent / "fake"
MIB = 1 << 20
TRAIN = """
import torch

def forward():
    return torch.empty(4 << 20).zero_()

def step():
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        global kept
        torch.empty(2 << 20).zero_()
        kept = forward()
    graph.replay()
    return graph

graphs = [step()]
"""
# Memory that the driver takes back and gives again at its address, as torch_memory_saver and vLLM's sleep mode have it.
PAUSE = """
import ctypes, time

def pause_and_resume():
    time.sleep(0.1)  # clocks are read some ms apart on a busy machine
    library, segments = torch.cuda.memory.library(), torch.cuda.memory.segments.values()
    for segment in segments:
        assert library.cudaFree(ctypes.c_void_p(segment.address)) == 0
    for segment in sorted(segments, key=lambda segment: segment.address):
        address = ctypes.c_void_p()
        assert library.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(torch.cuda.memory.SEGMENT)) == 0
        assert address.value == segment.address
"""
# A capture that a garbage collection and many scalars of their own hold up.
SLOW = """
import gc, time, torch

class Module:
    def __init__(self):
        self.tensor, self.itself = torch.empty(2 << 20).zero_(), self

def quantize():
    return torch.empty(4).zero_()

graph = torch.cuda.CUDAGraph()
torch.empty(4)
gc.disable()
with torch.cuda.graph(graph):
    Module()
    scales = [quantize() for i in range(20)]
    time.sleep(0.2)
    gc.collect()
    out = torch.empty(1 << 20).zero_()
graph.replay()
torch.cuda.synchronize()
"""
GRAPHKIT, NVTX = "", ""


class Run:
    """A program under `graphkit trace`, in a folder of its own."""

    def __init__(self, program, options=(), env=None, files=None, torch=True):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        for name, text in {"train.py": program, **(files or {})}.items():
            (self.path / name).parent.mkdir(exist_ok=True)
            (self.path / name).write_text(text)
        variables = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "RANK")} | (env or {})
        paths = [str(FAKE)] * torch + variables.get("PYTHONPATH", "").split(":")
        variables["PYTHONPATH"] = ":".join(p for p in paths if p)
        self.command = {"args": [GRAPHKIT, "trace", "--device", "soft", *options, "--", sys.executable, "train.py"],
                        "cwd": self.path, "text": True, "env": variables}
        done = subprocess.run(**self.command, capture_output=True, timeout=120)
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    def names(self):
        """The names of the files written, process ids as N."""
        names = [p.name for p in self.path.iterdir() if p.suffix in (".json", ".pickle", ".tmp")]
        return sorted(re.sub(r"(?<=\.)\d+(?=\.)", "N", name) for name in names)

    def records(self, name="trace.json"):
        """Of a trace that may be cut off: a child of a fork ends without the tracer's last word."""
        lines = (self.path / name).read_text().splitlines()[1:]
        return [json.loads(line.removesuffix("]}").removesuffix(",")) for line in lines]

    def of(self, kind, name="trace.json"):
        return [r for r in self.records(name) if r["type"] == kind]

    def snapshots(self):
        return {p.name: pickle.loads(p.read_bytes()) for p in sorted(self.path.glob("*.pickle"))}


def commanded(run, *words):
    return subprocess.run([GRAPHKIT, *words], cwd=run.path, capture_output=True, text=True, timeout=120)


def check_joined(run, name="trace.json"):
    """Blocks with stacks, in the capture, touched by its nodes."""
    stacks = {r["id"]: [frame[0] for frame in r["frames"]] for r in run.of("stack", name)}
    blocks = {r["id"]: r for r in run.of("alloc", name) if "segment" in r}
    sizes = [(block["size"], block.get("graph"), stacks[block["stack"]][0]) for block in blocks.values()]
    assert sizes == [(2 * MIB, 0, "step"), (4 * MIB, 0, "forward")], sizes
    touched = [access[0] for node in run.of("node", name) for access in node["access"]]
    assert touched == list(blocks), (touched, list(blocks))


def the_memory_history_is_joined_into_the_trace():
    run = Run(TRAIN, options=["--verbose"])
    assert run.code == 0 and run.names() == ["trace.N.pickle", "trace.json"], (run.err, run.names())
    check_joined(run)
    assert "2 blocks of the snapshot, 2 of them in captures, 1 segment that the trace saw as well" in run.err, run.err
    assert "not joined" not in run.err, run.err


def a_pause_and_a_resume_leave_the_blocks_joined():
    paused = "pause_and_resume()\ngraphs.append(step())\npause_and_resume()\n"
    for program, segments in ((PAUSE + "pause_and_resume()\n", 1), (PAUSE + paused, 2)):
        run = Run(TRAIN + program, options=["--verbose"])
        joined = f"{2 * segments} blocks of the snapshot, {2 * segments} of them in captures, "
        assert run.code == 0 and joined in run.err and "not joined" not in run.err, run.err
        touched = {access[0] for node in run.of("node") for access in node["access"]}
        assert touched == {r["id"] for r in run.of("alloc") if "segment" in r}, touched
        analyzed = commanded(run, "analyze", "--format", "json", "trace.json")
        graphs = json.loads(analyzed.stdout)["graphs"]
        assert analyzed.returncode == 0 and [graph["blocks"] for graph in graphs] == [2] * segments, analyzed


def a_history_that_lacks_the_captured_blocks_is_incomplete():
    run = Run(TRAIN + "del kept\ntorch.cuda.memory.History.events.clear()\nother = torch.empty(4)\n")
    lacks = ("/trace.json is incomplete: the memory history has no block where 2 of the 2 nodes access the segments of private "
             "pool (1, 0): the memory of their graphs isn't known")
    assert run.code == 0 and lacks in run.err and "not joined" not in run.err, run.err
    for command in ("analyze", "check", "plan", "survive", "replay", "dot"):
        done = commanded(run, command, "trace.json")
        assert done.returncode == 3, (command, done)
    assert commanded(run, "trace.json").returncode == 3


def snapshots_of_another_run_are_left_to_it():
    run = Run(TRAIN + "import os, pathlib, time\nprint('captured', flush=True)\n"
              "while 'WAIT' in os.environ and pathlib.Path('wait').exists(): time.sleep(0.05)\n")
    (run.path / "wait").touch()
    waiting = run.command | {"env": run.command["env"] | {"WAIT": "1"}}
    first = subprocess.Popen(**waiting, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert first.stdout.readline() == "captured\n"
    second = subprocess.run(**run.command, capture_output=True, timeout=120)
    (run.path / "wait").unlink()
    for said in (first.communicate(timeout=60)[1], second.stderr):
        assert said.count("2 blocks of the snapshot") == 1 and ".pickle" not in said, said


def no_torch_leaves_the_program_alone():
    run = Run("import os, sys; print(os.environ['PYTHONPATH'])\n" + TRAIN, options=["--no-torch"])
    assert run.code == 0 and run.names() == ["trace.json"], run.err
    assert run.out.strip() == str(FAKE), run.out
    assert not [r for r in run.of("alloc") if "segment" in r]


def importing_torch_initialises_nothing():
    run = Run("import torch; print(torch.cuda.is_initialized())")
    assert run.out == "False\n" and run.names() == [], (run.out, run.names())


def looking_for_torch_starts_nothing_and_importing_it_later_works():
    run = Run("import importlib.util as u; u.find_spec('torch'); u.find_spec('torch')\n" + TRAIN)
    assert run.code == 0, run.err
    check_joined(run)


def the_sitecustomize_behind_runs_as_if_alone():
    own = "import sys; print('own', __name__, [p for p in sys.path if 'graphkit/torch_hook' in p])"
    run = Run("import sitecustomize, sys; print(sitecustomize.__file__.endswith('site/sitecustomize.py'))\n"
              "print([p for p in sys.path if 'graphkit/torch_hook' in p])\n" + TRAIN,
              env={"PYTHONPATH": "site"}, files={"site/sitecustomize.py": own})
    assert run.out == "own sitecustomize []\nTrue\n[]\n", run.out
    check_joined(run)


def each_process_has_its_file():
    run = Run("import multiprocessing, sys, train_step\n"
              "if __name__ == '__main__':\n"
              "  for how in ('fork', 'spawn'):\n"
              "    child = multiprocessing.get_context(how).Process(target=train_step.run)\n"
              "    child.start(); child.join(); assert child.exitcode == 0\n"
              "  train_step.run()\n",
              files={"train_step.py": "import torch\ndef run():\n" + re.sub(r"(?m)^", "  ", TRAIN)
                     .replace("global kept", "nonlocal kept").replace("  def step", "  kept = None\n  def step")})
    assert run.code == 0, run.err
    assert run.names() == ["trace.N.json"] * 2 + ["trace.N.pickle"] * 3 + ["trace.json"], run.names()
    for name in [p.name for p in run.path.glob("*.json")]:
        check_joined(run, name)


def a_fork_after_cuda_was_used_is_left_alone():
    run = Run(TRAIN + "import os\nif os.fork() == 0: raise SystemExit(0)\nos.wait()\n")
    assert run.code == 0 and run.names() == ["trace.N.pickle", "trace.json"], (run.err, run.names())


def ranks_are_in_the_names():
    run = Run(TRAIN, env={"RANK": "3"})
    assert run.names() == ["trace.json", "trace.rank3.N.pickle"], run.names()
    assert "rank 3: 2 blocks" in run.err, run.err
    run = Run(TRAIN, env={"RANK": "3", "FAKE_TORCH_RANK": "5"})
    assert run.names() == ["trace.json", "trace.rank5.N.pickle"], run.names()


def stacks_are_recorded_of_the_events_that_are_wanted():
    for wanted, stacked in (("", {"alloc", "free_requested"}), ("alloc", {"alloc"}), ("none", set()), ("alot", {"alloc", "free_requested"})):
        run = Run(TRAIN, env={"GRAPHKIT_TORCH_STACKS": wanted})
        [snapshot] = run.snapshots().values()
        events = snapshot["device_traces"][0]
        assert {e["action"] for e in events if e["frames"]} & {"alloc", "free_requested"} == stacked, (wanted, events)
        said = "graphkit: GRAPHKIT_TORCH_STACKS=alot isn't known: set all, alloc or none; all stacks are recorded\n"
        assert run.code == 0 and (said in run.err) == (wanted == "alot"), run.err
        assert "2 blocks of the snapshot, 2 of them in captures" in run.err, run.err


def a_killed_process_leaves_the_snapshot_of_its_capture():
    run = Run(TRAIN + "import os, signal; os.kill(os.getpid(), signal.SIGKILL)\n")
    assert run.code == 137 and run.names() == ["trace.N.pickle", "trace.json"], (run.code, run.names())
    [snapshot] = run.snapshots().values()
    assert len(snapshot["device_traces"][0]) == 5, snapshot["device_traces"]


def snapshots_that_take_long_are_rare():
    slow = ("import time, torch\n"
            "fast, count = torch.cuda.memory._snapshot, [0]\n"
            "def dump(*words):\n  count[0] += 1; time.sleep(0.2); return fast(*words)\n"
            "torch.cuda.memory._snapshot = dump\n")
    run = Run(slow + TRAIN + "step(); step(); print(count[0])")
    assert run.out == "1\n", run.out
    [snapshot] = run.snapshots().values()
    assert len(snapshot["segments"]) == 3, "the last one, at the end, has all"


def a_profile_without_gpu_events_is_warned_of_once():
    run = Run("import enum, torch\nclass Activity(enum.Enum):\n  CPU = 0\n  CUDA = 1\n"
              "profile = torch.autograd.profiler.profile\nprofile(Activity.CPU)._prepare_trace()\nprint('cpu', flush=True)\n"
              "for i in range(2): profile(Activity.CPU, Activity.CUDA)._prepare_trace()\n")
    assert run.out == "['CPU']\ncpu\n['CPU', 'CUDA']\n['CPU', 'CUDA']\n", run.out
    assert run.err.count("torch.profiler gets no GPU events") == 1, run.err
    run = Run("import torch\ntorch.autograd.profiler.profile()._prepare_trace()\n")
    assert "torch.profiler" not in run.err, run.err


def a_profile_gets_cupti_and_recording_ends():
    profiled = ("import ctypes, enum, os\nclass Activity(enum.Enum):\n  CUDA = 1\n"
                "torch.autograd.profiler.profile(Activity.CUDA)._prepare_trace()\n"
                "callback = ctypes.CFUNCTYPE(None)(lambda: None)\nsubscriber = ctypes.c_void_p()\n"
                "print(ctypes.CDLL('libcupti.so.13').cuptiSubscribe(ctypes.byref(subscriber), callback, None))\n"
                "step()\ntorch.autograd.profiler.profile(Activity.CUDA)._prepare_trace()\n")
    for choice, result, graphs in (("release", 0, 1), ("keep", 39, 2)):
        run = Run(TRAIN + profiled, env={"GRAPHKIT_TRACE_PROFILER": choice})
        assert run.code == 0 and run.out == f"['CUDA']\n{result}\n['CUDA']\n", (choice, run.out, run.err)
        assert run.err.count("graphkit: torch.profiler needs CUPTI: recording ends here") == (choice == "release"), run.err
        assert run.err.count("gets no GPU events") == (choice == "keep"), run.err
        done = subprocess.run([GRAPHKIT, "analyze", "--format", "json", "trace.json"], cwd=run.path, capture_output=True,
                              text=True, timeout=120)
        report = json.loads(done.stdout)
        assert done.returncode == (3 if choice == "release" else 0), done
        assert len(report["graphs"]) == graphs and len(run.snapshots()) == 1, report["graphs"]
        said = " ".join(report["incomplete_because"])
        assert said.startswith("recording ended early, so that torch.profiler" if choice == "release" else ""), said
        if choice == "release":
            assert not [f for f in report["findings"] if f["check"].endswith("leak")], report["findings"]


def a_skipped_snapshot_is_made_up_before_the_process_ends():
    slow = ("import os, signal, time, torch\n"
            "fast = torch.cuda.memory._snapshot\n"
            "def dump(*words):\n  time.sleep(0.05); return fast(*words)\n"
            "torch.cuda.memory._snapshot = dump\n")
    run = Run(slow + TRAIN + "step(); step(); time.sleep(2); os.kill(os.getpid(), signal.SIGKILL)\n")
    assert run.code == 137, run.err
    [snapshot] = run.snapshots().values()
    assert len(snapshot["segments"]) == 3, snapshot["segments"]


def a_snapshot_that_took_long_is_made_up_once_captures_are_over():
    slow = ("import os, signal, time, torch\n"
            "fast = torch.cuda.memory._snapshot\n"
            "def dump(*words):\n  time.sleep(0.5); return fast(*words)\n"
            "torch.cuda.memory._snapshot = dump\n")
    run = Run(slow + TRAIN + "step(); step(); time.sleep(2.5); os.kill(os.getpid(), signal.SIGKILL)\n")
    assert run.code == 137, run.err
    [snapshot] = run.snapshots().values()
    assert len(snapshot["segments"]) == 3, snapshot["segments"]


def a_graph_has_the_name_of_the_batch_that_it_is_captured_for():
    batches = ("import torch\n"
               "class Descriptor:\n  num_tokens, num_reqs = 8, 2\n"
               "def capture():\n  desc = Descriptor()\n  desc.cg_mode = type('Mode', (), {'name': 'FULL'})\n"
               "  graph = torch.cuda.CUDAGraph()\n  with torch.cuda.graph(graph):\n    torch.empty(4096)\n"
               "torch.empty(4096)\ncapture()\nprint(torch.cuda.nvtx.calls)\n")
    run = Run(batches, env={"FAKE_TORCH_NVTX": NVTX})
    assert run.out == "['push graphkit graph: full, 8 tokens, 2 requests', 'pop']\n", (run.out, run.err)
    [graph] = [record for record in run.records() if record["type"] == "graph"]
    assert graph["name"] == "full, 8 tokens, 2 requests", graph


def a_graph_of_sglang_has_its_size():
    runner = ("def capture_one_shape({0}):\n  with torch.cuda.graph(torch.cuda.CUDAGraph()):\n    torch.empty(4096)\n"
              "capture_one_shape({1})\n")
    run = Run("import torch\ntorch.empty(4096)\n" + "".join(
        f"exec(compile({runner.format(name, size)!r}, '/sglang/{kind}_cuda_graph_runner.py', 'exec'))\n"
        for kind, name, size in (("decode", "bs", 8), ("prefill", "num_tokens", 32))), env={"FAKE_TORCH_NVTX": NVTX})
    names = [record["name"] for record in run.records() if record["type"] == "graph"]
    assert names == ["batch size 8", "prefill, 32 tokens"], (names, run.err)


def a_capture_keeps_nothing_that_the_program_deletes():
    run = Run("import torch, weakref\nclass Tensor:\n  pass\n"
              "def main():\n  tensor = Tensor()\n  there = weakref.ref(tensor)\n  graph = torch.cuda.CUDAGraph()\n"
              "  with torch.cuda.graph(graph):\n    torch.empty(4096)\n  del tensor\n  print(there())\n"
              "torch.empty(4096)\nmain()\n")
    assert run.out == "None\n", (run.out, run.err)


def a_capture_is_not_held_up_by_a_snapshot_that_is_made_up():
    slow = ("import time, torch\n"
            "fast, inside = torch.cuda.memory._snapshot, []\n"
            "def dump(*words):\n"
            "  time.sleep(0.02); inside.append(torch.cuda.is_current_stream_capturing()); return fast(*words)\n"
            "torch.cuda.memory._snapshot = dump\n")
    long = ("step()\ngraph = torch.cuda.CUDAGraph()\nwith torch.cuda.graph(graph):\n  time.sleep(0.5)\n"
            "  before = len(inside)\ntime.sleep(0.5)\nprint(before, len(inside))\n")
    run = Run(slow + TRAIN + long)
    assert run.out == "1 2\n", (run.out, run.err)


def what_a_backward_allocates_has_the_line_that_called_it():
    run = Run("import torch\n"
              "def work():\n  torch.kept = torch.empty(4096)\n"
              "def backward():\n  torch.autograd.Variable._execution_engine.run_backward(work)\n"
              "def step():\n  backward()\n"
              "step()\ndel torch.kept\nstep()\n")
    assert run.code == 0, run.err
    [snapshot] = run.snapshots().values()
    names = [[frame["name"] for frame in event["frames"]] for event in snapshot["device_traces"][0]
             if event["action"] == "alloc"]
    assert [stack[0] for stack in names] == ["work", "work"], names
    assert all(stack[-3:] == ["backward", "step", "<module>"] for stack in names), names


def garbage_collections_in_captures_are_ranges():
    run = Run("import gc, torch\ngc.disable()\ngc.collect(0)\ngraph = torch.cuda.CUDAGraph()\n"
              "with torch.cuda.graph(graph):\n  gc.collect(1)\n"
              "gc.collect(2)\nprint(torch.cuda.nvtx.calls)")
    assert run.out == "['push garbage collection, generation 1', 'pop']\n", (run.out, run.err)


def what_holds_a_capture_up_is_found():
    run = Run(SLOW, env={"FAKE_TORCH_NVTX": NVTX})
    assert run.code == 0, run.err
    path = run.path / "trace.json"
    # Host time is judged on a GPU only: the software device's times are simulated.
    path.write_text(path.read_text().replace('"device":"soft"', '"device":"cuda"', 1))
    done = subprocess.run([GRAPHKIT, "analyze", path, "--format", "json", "--check",
                           "collection-in-capture,slow-capture"], capture_output=True, text=True)
    analysis = json.loads(done.stdout)
    found = {finding["check"]: finding for finding in analysis["findings"]}
    assert set(found) == {"collection-in-capture", "slow-capture"}, done.stdout + run.err
    assert found["collection-in-capture"]["bytes"] == 2 * MIB, found
    assert found["collection-in-capture"]["message"].startswith("1 garbage collection paused the capture of graph 0 for"), found
    [graph] = analysis["graphs"]
    assert graph["captured_calls"] == 22 and graph["capture_host_ns"] > 200_000_000, graph


def a_history_of_the_program_is_kept():
    own = ("import torch\ntorch.cuda.memory._record_memory_history('all', context='alloc', stacks='all')\n" + TRAIN +
           "torch.cuda.memory._record_memory_history(None)\n")
    run = Run(own)
    assert run.code == 0, run.err
    check_joined(run)


def a_version_that_is_not_known_is_said_and_harmless():
    for version in ("1.13.1", "3.0.0", "unknown"):
        run = Run(TRAIN, env={"FAKE_TORCH_VERSION": version})
        assert run.code == 0 and run.names() == ["trace.json"], run.err
        assert f"graphkit: torch {version} isn't known" in run.err, run.err


def a_newer_version_that_does_as_known_hears_nothing_of_it():
    for version in ("2.15.0+cu132", "2.99.0"):
        run = Run(TRAIN, env={"FAKE_TORCH_VERSION": version})
        assert version not in run.err and "torch" not in run.err and len(run.names()) == 2, run.err


def a_torch_that_is_not_as_known_is_said_and_harmless():
    run = Run("import torch\nprint(torch.__version__)", torch=False,
              files={"torch/__init__.py": "__version__ = '2.5.0'\nclass version: cuda = '12.4'\n"})
    assert run.code == 0 and run.out == "2.5.0\n", run.err
    assert "graphkit: torch 2.5.0 isn't as known: AttributeError" in run.err, run.err
    assert "was tried with" not in run.err, run.err
    run = Run("import torch", torch=False,
              files={"torch/__init__.py": "__version__ = '2.99.0'\nclass version: cuda = '12.4'\n"})
    assert "graphkit: torch 2.99.0 isn't as known: AttributeError" in run.err, run.err
    assert "(graphkit was tried with torch up to 2.15); its memory isn't recorded" in run.err, run.err


def a_missing_torch_is_said_and_harmless():
    run = Run("try:\n  import torch\nexcept ImportError:\n  print('without')", torch=False)
    assert run.code == 0 and run.out == "without\n", run.err
    assert f"graphkit: {sys.executable} has no torch: no memory history\n" in run.err, run.err


# A package with the seam of cuda.bindings: functions that refuse, published as Cython publishes them.
PUBLISHER = """
import ctypes

make = ctypes.pythonapi.PyCapsule_New
make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
refuse, NAME = ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 801), b"cudaError_t (void)"
__pyx_capi__ = {name: make(ctypes.cast(refuse, ctypes.c_void_p), NAME, None)
                for name in ("_cudaDeviceSynchronize", "_cudaNoFunctionOfThisName", "getLocalRuntimeVersion")}
"""
CALLER = """
import ctypes, importlib
where = importlib.import_module("cuda.bindings.MODULE")
pointer = ctypes.pythonapi.PyCapsule_GetPointer
pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
print(*(ctypes.CFUNCTYPE(ctypes.c_int)(pointer(capsule, where.NAME))() for capsule in where.__pyx_capi__.values()))
"""


def the_runtime_inside_cuda_bindings_is_led():
    for version, module in (("12.9.10", "_bindings.cyruntime"), ("13.3.1", "_bindings.cyruntime_ptds"),
                            ("13.5.0", "_internal.runtime"), ("13.5.0", "_internal.runtime_ptds")):
        folder, name = module.split(".")
        files = {"cuda/__init__.py": "", "cuda/bindings/__init__.py": "", f"cuda/bindings/{folder}/__init__.py": "",
                 "cuda/bindings/_version.py": f"__version__ = '{version}'",
                 f"cuda/bindings/{folder}/{name}.py": PUBLISHER}
        for options, said in (((), "0 801 801\n"), (("--no-torch",), "801 801 801\n")):
            run = Run(CALLER.replace("MODULE", module), options=options, torch=False, files=files)
            assert run.code == 0 and run.out == said and "isn't led" not in run.err, (module, run.out, run.err)


def a_program_without_torch_hears_nothing_of_it():
    run = Run("print('hello')", torch=False)
    assert run.code == 0 and run.out == "hello\n" and "torch" not in run.err, run.err


def main():
    global GRAPHKIT, NVTX
    parser = argparse.ArgumentParser()
    parser.add_argument("--graphkit", required=True)
    parser.add_argument("--nvtx", required=True)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    GRAPHKIT, NVTX = (str(pathlib.Path(path).resolve()) for path in (args.graphkit, args.nvtx))
    tests = [f for name, f in globals().items() if callable(f) and getattr(f, "__module__", "") == "__main__" and
             not isinstance(f, type) and name != "main" and f.__code__.co_argcount == 0]
    failed = 0
    for test in tests:
        if args.names and test.__name__ not in args.names:
            continue
        try:
            test()
        except Exception as error:
            failed += 1
            print(f"{test.__name__}: {type(error).__name__}: {error}")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
