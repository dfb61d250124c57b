"""A program whose threads capture in another order in every run: each run passes the baseline of the first, and its
graphs and findings are the first's; with one of its graphs changed they aren't.

    threads_test.py --graphkit BINARY --workloads FOLDER --out FOLDER
"""

import json

from graphkit_cli import Failure, run_test

RUNS = 8


def grown(trace):
    """The trace with the largest graph allocation a MiB larger."""
    lines = trace.read_text(encoding="utf-8").splitlines()
    records = [json.loads(line.rstrip(",")) for line in lines[1:-1]]
    sizes = [r["size"] if r["type"] == "alloc" and "graph" in r else 0 for r in records]
    largest = sizes.index(max(sizes))
    records[largest]["size"] += 1 << 20
    lines[1 + largest] = json.dumps(records[largest], separators=(",", ":")) + ","
    return "\n".join(lines) + "\n"


def same_graphs(graphkit, before, after):
    """The memory that the threads have allocated at once outside of graphs differs from run to run."""
    diff = json.loads(graphkit.run(["diff", "--format", "json", before, after], exit_code=(0, 1)))
    return (all(graph["equal"] for graph in diff["graphs"])
            and not diff["removed_graphs"] + diff["added_graphs"] + diff["findings"])


def check(graphkit, workloads):
    program = workloads / "threads"
    traces = [graphkit.trace(program, ["--free", "--mixed"], str(run))[0] for run in range(RUNS)]
    graphkit.run(["check", traces[0], "--save-baseline", "baseline.json"])
    planted = graphkit.folder / "grown.json"
    for trace in traces[1:]:
        graphkit.run(["check", trace, "--baseline", "baseline.json"])
        if not same_graphs(graphkit, traces[0], trace):
            raise Failure(f"the graphs of {trace} aren't those of {traces[0]}")
        planted.write_text(grown(trace), encoding="utf-8")
        graphkit.run(["check", planted, "--baseline", "baseline.json"], exit_code=1)
        if same_graphs(graphkit, traces[0], planted):
            raise Failure(f"the larger allocation of {planted} isn't seen")


if __name__ == "__main__":
    run_test(check, "threads_mixed")
