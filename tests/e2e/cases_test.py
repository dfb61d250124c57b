"""Each case of the workloads that are run case by case is found at its argument, its memory or its node; of its twin
nothing is found.

    cases_test.py --graphkit BINARY --workloads FOLDER --out FOLDER
"""

from graphkit_cli import Failure, run_test

ALL = ["--scope", "all"]  # the check needs all work outside of graphs

BODY, FAILED = "the body of a conditional node can contain only", "instantiate-failed"

# By workload and case: what `graphkit trace` is given, the check, its severity, and what its message has.
CASES = {"frozen_values": {
    "rate": ([], "frozen-argument", "warning", "always passes 0.1 as argument 2 (32-bit float) of Update"),
    "splits": ([], "frozen-grid", "warning", "always launches Attend with a grid of 1 in y"),
    "plan": ([], "frozen-argument", "warning", "always passes 1 as argument 2 (32-bit integer) of Plan"),
    "length": ([], "frozen-argument", "warning", "passed 400, 800, 1200 and 1600 in 4 launches"),
    "counter": (ALL, "state-not-reset", "note", "block 5 (4 KiB), which was set once"),
    "reset": (ALL, "state-not-reset", "warning", "block 5 (4 KiB), which was set before each use"),
    "second": ([], "capture-differs-from-warmup", "warning", "4 warm-ups: it doesn't launch Combine"),
}, "failing_instantiations": {
    "alloc": ([], FAILED, "error", f"failed (1) at node 1 (mem_alloc): {BODY}"),
    "second": ([], FAILED, "error", "failed (801) at node 0 (mem_alloc): a graph with memory nodes"),
    "device": ([], FAILED, "error", "failed (1) at node 1 (host): a graph for launch on the device can contain only"),
    "cycle": ([], FAILED, "error", "failed (1) at node 0 (memset): the edges of the graph form a cycle"),
    "handle": ([], FAILED, "error", "failed (1): a conditional handle of the graph has no conditional node"),
    "memory": ([], FAILED, "error", "cudaGraphUpload of graph 0 failed (2): the device is out of memory"),
}, "recorded_again": {
    "address": ([], "recorded-again", "warning", "4 of 5 recordings of the same code (2 nodes, graph 0 first)"),
    "sizes": ([], "recorded-again", "note", "2 of 4 recordings of the same code"),
}}


def findings_of(graphkit, program, options, case, *flags):
    path = graphkit.folder / f"{program.name}_{case}{''.join(flags)}.json"
    graphkit.run(["trace", "--device", "soft", "--stacks", *options, "-o", path, program, case, *flags])
    return graphkit.analyze(path)["findings"]


def check_case(graphkit, program, case, options, expected, text):
    found = findings_of(graphkit, program, options, case)
    told = [(f["check"], f["severity"]) for f in found]
    if told != [expected] or text not in found[0]["message"]:
        raise Failure(f"{case} {options}: found {[(f['check'], f['message']) for f in found]}")
    lines = [frame["line"] for evidence in found[0]["evidence"] for frame in evidence.get("stack", [])]
    if not lines:
        raise Failure(f"{case} {options}: no line")
    twin = findings_of(graphkit, program, options, case, "fixed")
    if twin:
        raise Failure(f"{case} fixed {options}: found {[f['message'] for f in twin]}")


def check(graphkit, workloads):
    for workload, cases in CASES.items():
        for case, (options, check_id, severity, text) in cases.items():
            for more in ([], ALL):  # the tracer's counts, and all work
                if more or not options:
                    check_case(graphkit, workloads / workload, case, more, (check_id, severity), text)


if __name__ == "__main__":
    run_test(check, "cases")
