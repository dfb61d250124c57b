"""graphkit's allocator for PyTorch beside PyTorch's own, on the software device: the table of docs/torch-allocator.md.

    compare_allocators.py --build FOLDER --python PYTHON --name NAME [PROGRAM...] [--times N]

Each program runs under each allocator, traced. Told in MiB: what its captures got from the driver (what its blocks cover; the
most that was freed and not yet reusable), beside the bound by what streams prove. Each recorded placement is verified and
executed with canaries. A program fails when a placement isn't safe, when graphkit's allocator takes more than PyTorch's with
its flag, or more than 1 % above the bound with a plan. With --times the programs of TIMED run N times instead, untraced: the
shortest time of their captures, as a ratio to PyTorch's default. Where PYTHON isn't there, all of it is skipped.
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
PARSER.add_argument("--times", type=int, default=0)
PARSER.add_argument("programs", nargs="*")
OPTIONS = PARSER.parse_args()
BUILD = OPTIONS.build.resolve()
GRAPHKIT = BUILD / "bin/graphkit"
HERE = pathlib.Path(__file__).resolve().parent
MIB = 1 << 20
FLAG = "graph_capture_record_stream_reuse:True"
ALLOCATORS = {  # name: what it is, PYTORCH_CUDA_ALLOC_CONF, whether it has a plan
    "default": ("pytorch", "", False),
    "flag": ("pytorch", FLAG, False),
    "expandable": ("pytorch", f"expandable_segments:True,{FLAG}", False),
    "graphkit": ("graphkit", "", False),
    "planned": ("graphkit", "", True),
}
SWEEP = HERE / "allocator/sweep.py"
SCENARIOS = HERE.parents[1] / "testdata/clients"
PROGRAMS = {  # name: file, environment
    **{name: (HERE / f"torch/{name}.py", {}) for name in (
        "gpt", "resnet", "step", "graphed_callables", "side_stream", "shared_pool", "planted_record_stream")},
    **{name: (SCENARIOS / f"{name}.py", {}) for name in ("ddp_buckets", "fsdp_prefetch")},
    **{f"sweep {words}{mixed}": (SWEEP, {"SWEEP": words, "MIXED": mixed}) for words, mixed in (
        ("2 1000 .1 .1 .1", ""), ("2 1000 .1 .3 .1", ""), ("4 1000 .1 .1 .1", ""), ("4 1000 .1 .3 .1", ""),
        ("2 10000 .1 .1 .1", ""), ("2 1000 .1 .3 .2", " mixed"), ("8 3000 .1 .3 .2", " mixed"))},
}


TIMED = {
    "mallocs": (HERE / "allocator/mallocs.py", {}),
    "sweep 2 10000 .1 .3 .3": (SWEEP, {"SWEEP": "2 10000 .1 .3 .3"}),
}


class Failed(Exception):
    """A failure, in a line."""


def run(folder, words, accepted=(0,), **variables):
    done = subprocess.run(list(map(str, words)), cwd=folder, capture_output=True, text=True, check=False,
                          env={**os.environ, **variables})
    if done.returncode not in accepted:
        said = [line for line in done.stderr.strip().splitlines() if not line.startswith("graphkit: ")]
        raise Failed(f"{pathlib.Path(words[0]).name} {words[1]} ended with {done.returncode}: {(said or [''])[-1][:300]}")
    return done.stdout


def plan(folder, analysis):
    """Of the run without one; graphs that share a pool are planned together. The bound by what streams prove."""
    pools = [pool["pool"] for graph in analysis["graphs"] for pool in graph["pools"]]
    together = ["--sequence", "recorded"] if len(set(pools)) < len(pools) else []
    run(folder, [GRAPHKIT, "plan", "graphkit.json", "--assume", "torch-streams", *together, "-o", "plan.json"])
    return json.loads((folder / "plan.json").read_text())["lower_bound_bytes"]


def program_under(allocator, file, report):
    """The command, and its environment."""
    kind, conf, planned = ALLOCATORS[allocator]
    environment = {"PYTORCH_CUDA_ALLOC_CONF": conf}
    if kind == "graphkit":
        environment["GRAPHKIT_TORCH_ALLOCATOR"] = str(BUILD / "lib/graphkit/libgraphkit_torch_allocator.so")
    if planned:
        environment["GRAPHKIT_PLAN"] = "plan.json"
    return [OPTIONS.python, HERE / "allocator/under.py", kind, report, file], environment


def measure(folder, allocator, file, variables):
    """Runs the program; what its captures took, and what its trace says of the placements, which must be safe."""
    made, report = folder / f"{allocator.replace(' ', '-')}.json", folder / "report.json"
    command, environment = program_under(allocator, file, report)
    run(folder, [GRAPHKIT, "trace", "--device", "soft", "-o", made, "--", *command], **environment, **variables)
    analysis = json.loads(run(folder, [GRAPHKIT, "analyze", "--format", "json", made]))
    replay = json.loads(run(folder, [GRAPHKIT, "replay", made, "--allocator", "recorded", "--execute", "soft",
                                     "--orders", 10, "--format", "json"]))
    found = json.loads(report.read_text())
    found["extent"] = replay["policies"][0]["peak_extent_bytes"]
    found["deferred"] = sum(graph["deferred_bytes"] for graph in analysis["graphs"])
    return found, analysis


def told(row):
    """A row of the table."""
    print("| " + " | ".join(row) + " |", flush=True)


def mib(count):
    return f"{count / MIB:.1f}"


def check(name, folder):
    file, variables = PROGRAMS[name]
    found, bound, analysis = {}, 0, None
    for allocator, (_, _, planned) in ALLOCATORS.items():
        if planned:
            bound = plan(folder, analysis)
        found[allocator], analysis = measure(folder, allocator, file, variables)
    told([name, mib(bound), *(f"{mib(of['captured'])} ({mib(of['extent'])}; {mib(of['deferred'])})" for of in found.values())])
    if found["graphkit"]["captured"] > found["flag"]["captured"]:
        raise Failed("graphkit's allocator takes more than PyTorch's with its flag")
    if found["planned"]["captured"] > 1.01 * bound:
        raise Failed("as planned it takes more than 1 % above the bound")


def time_captures(name, folder):
    """In turns, so that what else the machine does meets all of them."""
    file, variables = TIMED[name]
    soft = BUILD / "lib/graphkit/soft_cuda"
    device = {"LD_LIBRARY_PATH": str(soft), "LD_AUDIT": str(soft / "libgraphkit_soft_audit.so")}
    taken = {allocator: [] for allocator in ("default", "flag", "graphkit")}
    for _ in range(OPTIONS.times):
        for allocator, seconds in taken.items():
            command, environment = program_under(allocator, file, folder / "report.json")
            run(folder, command, **device, **environment, **variables)
            seconds.append(json.loads((folder / "report.json").read_text())["seconds"])
    told([name, *(f"{min(seconds) / min(taken['default']):.2f}" for seconds in taken.values())])


def main():
    if not pathlib.Path(OPTIONS.python).exists():
        print(f"skipped: {OPTIONS.name} isn't installed: tools/test.sh --clients installs it")
        print(f"{OPTIONS.name}: 0 passed, 0 failed, {len(PROGRAMS)} skipped")
        return
    programs, measured = (TIMED, time_captures) if OPTIONS.times else (PROGRAMS, check)
    names = [name for name in programs if not OPTIONS.programs or name in OPTIONS.programs]
    failed = []
    if not OPTIONS.times:
        told(["program", "bound", *ALLOCATORS])
        told(["---"] * (2 + len(ALLOCATORS)))
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            try:
                measured(name, pathlib.Path(folder))
            except Failed as error:
                failed.append(f"FAILED {OPTIONS.name} {name}: {error}")
    print("\n".join(failed))
    print(f"{OPTIONS.name}: {len(names) - len(failed)} passed, {len(failed)} failed")
    sys.exit(1 if failed else 0)


main()
