"""What was right while capturing and wrong at every launch: each case of the workload frozen_values is found at its
argument, its grid, its memory or its kernel; of its twin nothing is found.

    frozen_values_test.py --graphkit BINARY --workloads FOLDER --out FOLDER
"""

from graphkit_cli import Failure, run_test

ALL = ["--scope", "all"]  # the check needs all work outside of graphs

# By case: what `graphkit trace` is given, the check, its severity, and what its message has.
CASES = {
    "rate": ([], "frozen-argument", "warning", "always passes 0.1 as argument 2 (32-bit float) of Update"),
    "splits": ([], "frozen-grid", "warning", "always launches Attend with a grid of 1 in y"),
    "plan": ([], "frozen-argument", "warning", "always passes 1 as argument 2 (32-bit integer) of Plan"),
    "length": ([], "frozen-argument", "warning", "passed 400, 800, 1200 and 1600 in 4 launches"),
    "counter": (ALL, "state-not-reset", "note", "block 5 (4 KiB), which was set once"),
    "reset": (ALL, "state-not-reset", "warning", "block 5 (4 KiB), which was set before each use"),
    "second": ([], "capture-differs-from-warmup", "warning", "4 warm-ups: it doesn't launch Combine"),
}


def findings_of(graphkit, workloads, options, case, *flags):
    path = graphkit.folder / f"{case}{''.join(flags)}.json"
    graphkit.run(["trace", "--device", "soft", "--stacks", *options, "-o", path, workloads / "frozen_values", case,
                  *flags])
    return graphkit.analyze(path)["findings"]


def check(graphkit, workloads):
    for case, (options, check_id, severity, text) in CASES.items():
        for more in ([], ALL):  # the tracer's counts, and all work
            if options and not more:
                continue
            found = findings_of(graphkit, workloads, more, case)
            told = [(f["check"], f["severity"]) for f in found]
            if told != [(check_id, severity)] or text not in found[0]["message"]:
                raise Failure(f"{case} {more}: found {[(f['check'], f['message']) for f in found]}")
            lines = [frame["line"] for evidence in found[0]["evidence"] for frame in evidence.get("stack", [])]
            if not lines:
                raise Failure(f"{case} {more}: no line")
            twin = findings_of(graphkit, workloads, more, case, "fixed")
            if twin:
                raise Failure(f"{case} fixed {more}: found {[f['message'] for f in twin]}")


if __name__ == "__main__":
    run_test(check, "frozen_values")
