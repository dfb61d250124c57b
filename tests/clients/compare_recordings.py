"""Compares what PyTorch's hooks say of a program (cudagraphkit.record()) with what the tracer records of the same run.

    compare_recordings.py --build BUILD --python PYTHON --name NAME [--work FOLDER] FOLDER_OF_PROGRAMS [PROGRAM...]

Each graph whose capture succeeded has the same nodes (kind, kernel, grid, block), edges with their data, and launches on the same streams; the
allocators' blocks are the same. The analysis of what the hooks saw has no finding that the tracer's lacks, and each that needs no
more than they report. Prints a line for each program, and then the numbers; ends with 1 where something differs. Of a program of
several processes those are compared that begin with the program; where the tracer stops early, the hooks' recording is only read.
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from verdicts import heading, started, variants

HERE = pathlib.Path(__file__).resolve().parent
PARSER = argparse.ArgumentParser()
PARSER.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
PARSER.add_argument("--python", required=True)
PARSER.add_argument("--work", type=pathlib.Path)
PARSER.add_argument("--name", required=True)
PARSER.add_argument("folder", type=pathlib.Path)
PARSER.add_argument("programs", nargs="*")
OPTIONS = PARSER.parse_args()
GRAPHKIT = (OPTIONS.build / "bin/graphkit").resolve()
# Warnings and errors that need what hooks don't report: the memory and the scalars of nodes, work outside of captures, calls that
# failed, and (exec-leak) that every free is in the trace.
NEED_MORE = {"border-order", "recorded-again", "static-address-changed", "frozen-argument", "frozen-grid", "state-not-reset",
             "capture-differs-from-warmup", "aborted-capture-pool", "capture-invalidated", "exec-leak"}


class Differs(Exception):
    """What differs, in a line."""


def records_of(trace):
    found = collections.defaultdict(list)
    for line in trace.read_text(encoding="utf-8").splitlines()[1:]:
        record = json.loads(line.removesuffix("]}").rstrip(","))
        found[record["type"]].append(record)
    return found


def node_of(node, kernels):
    shape = [node.get(name, [1, 1, 1]) for name in ("grid", "block")] if node["kind"] == "kernel" else []
    return node["kind"], kernels.get(node.get("kernel"), ""), *map(tuple, shape)


def graphs_of(records):
    """Of each capture, in order: nodes, edges by their places, and the streams of its launches."""
    kernels = {kernel["id"]: kernel["name"] for kernel in records["kernel"]}
    streams = {stream["id"]: stream["handle"] for stream in records["stream"]}
    pools = {graph["id"] for graph in records["graph"] if graph["origin"] == "imported"}  # of a snapshot, beside the captures
    failed = {end["capture"] for end in records["capture_end"] if end.get("error")}
    captured = [begin["graph"] for begin in records["capture_begin"] if begin["graph"] not in pools and begin["id"] not in failed]
    nodes, places = {graph: [] for graph in captured}, {}
    for node in records["node"]:
        if node["graph"] in nodes:
            places[node["id"]] = (node["graph"], len(nodes[node["graph"]]))
            nodes[node["graph"]].append(node_of(node, kernels))
    edges = collections.defaultdict(set)
    for edge in records["edge"]:
        if edge["from"] in places:
            graph, start = places[edge["from"]]
            data = [edge.get(name, 0) for name in ("from_port", "to_port", "edge_type")]
            edges[graph].add((start, places[edge["to"]][1], *data))
    execs = {made["id"]: made["graph"] for made in records["exec"]}
    launches = collections.defaultdict(list)
    for launch in records["launch"]:
        launches[execs[launch["exec"]]].append(streams.get(launch.get("stream")))
    return [(nodes[graph], edges[graph], launches[graph]) for graph in captured]


def blocks_of(records):
    """What the allocator handed out."""
    return collections.Counter((block["address"], block["size"]) for block in records["alloc"] if "segment" in block)


def compare(traced, hooked):
    ours, theirs = graphs_of(traced), graphs_of(hooked)
    if len(ours) != len(theirs):
        raise Differs(f"{len(theirs)} captures, not {len(ours)}")
    for number, (mine, other) in enumerate(zip(ours, theirs)):
        for what, a, b in zip(("nodes", "edges", "launches"), mine, other):
            if a != b and other[0]:
                raise Differs(f"capture {number}: {len(b)} {what}, not {len(a)}, or others")
    without = sum(not nodes and len(mine[0]) > 0 for mine, (nodes, _, _) in zip(ours, theirs))
    mine, other = blocks_of(traced), blocks_of(hooked)
    if mine != other and other:  # an allocator of the user's has no history
        raise Differs(f"{other.total()} blocks, not {mine.total()}: {list((mine - other) + (other - mine))[:2]}")
    return f"{len(ours)} captures, {sum(len(nodes) for nodes, _, _ in theirs)} nodes, {other.total()} blocks" + (
        f"; {without} without nodes" if without else "")


def run(folder, *words, codes=(0,), **variables):
    done = subprocess.run(list(map(str, words)), cwd=folder, capture_output=True, text=True, env={**os.environ, **variables}, check=False)
    if done.returncode not in codes:
        raise Differs(f"{words[1]} ended with {done.returncode}: {(done.stderr or done.stdout).strip().splitlines()[-1][:300]}")
    return done.stdout


def findings(trace, folder):
    report = json.loads(run(folder, GRAPHKIT, "analyze", "--format", "json", trace, codes=(0, 3)))
    return {finding["check"] for finding in report["findings"] if finding["severity"] != "note"}


def check(program, fixed, folder):
    variables = dict(word.split("=", 1) for word in heading(program, "environment") or [])
    allocator = GRAPHKIT.parents[1] / "lib/graphkit/libgraphkit_torch_allocator.so"
    run(folder, GRAPHKIT, "trace", "--device", "soft", *(heading(program, "options") or []), "-o", folder / "trace.json", "--",
        *started(OPTIONS.python, program, HERE / "beside.py", folder), *(["fixed"] if fixed else []),
        GRAPHKIT_TORCH_ALLOCATOR=str(allocator), **variables)
    traces = [*folder.glob("trace.json"), *folder.glob("trace.[0-9]*.json")]
    if not traces:
        return "nothing was recorded"
    return " + ".join(filter(None, (check_process(program, trace, folder) for trace in sorted(traces))))


def check_process(program, trace, folder):
    """What was compared; nothing for a process that the hooks weren't in."""
    traced = records_of(trace)
    mine = folder / str(traced["process"][0]["pid"])
    if not mine.exists():
        return ""
    parts, hooks = sorted(mine.iterdir()), mine / "hooks.json"
    run(folder, GRAPHKIT, "import", *parts, "-o", hooks, codes=(0, 3))
    hooked = records_of(hooks)
    if heading(program, "incomplete"):
        return f"read alone, {len(graphs_of(hooked))} captures"
    said = compare(traced, hooked)
    more = findings(hooks, folder) - findings(trace, folder)
    if more:
        raise Differs(f"findings that the tracer's trace lacks: {', '.join(sorted(more))}")
    less = findings(trace, folder) - findings(hooks, folder)
    if not less <= NEED_MORE:
        raise Differs(f"findings that the hooks' recording lacks: {', '.join(sorted(less - NEED_MORE))}")
    return said + (f"; not found without the tracer: {', '.join(sorted(less))}" if less else "")


def judge(program, fixed):
    """True if both recordings are equal; the result is printed."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = OPTIONS.work / program.stem if OPTIONS.work else pathlib.Path(temporary)
        folder.mkdir(exist_ok=True, parents=True)
        try:
            said, word = check(program, fixed, folder), "equal"
        except Differs as error:
            said, word = str(error), "DIFFERS"
    print(f"{word} {program.stem}{' fixed' if fixed else ''}: {said}", flush=True)
    return word == "equal"


def main():
    programs = [program for program in sorted(OPTIONS.folder.glob("*.py")) if not OPTIONS.programs or program.stem in OPTIONS.programs]
    if not pathlib.Path(OPTIONS.python).exists():
        print(f"{OPTIONS.name}: 0 passed, 0 failed, {len(programs)} skipped")
        return
    results = [judge(program, fixed) for program in programs for fixed in variants(program)]
    print(f"{OPTIONS.name}: {sum(results)} passed, {len(results) - sum(results)} failed")
    sys.exit(0 if all(results) else 1)


main()
