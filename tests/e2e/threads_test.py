"""A program whose threads capture in another order in every run: each run passes the baseline of the first and differs
from it in nothing; with one of its graphs changed it doesn't.

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


def check(graphkit, workloads):
    program = workloads / "threads"
    traces = [graphkit.trace(program, ["--free", "--mixed"], str(run))[0] for run in range(RUNS)]
    graphkit.run(["check", traces[0], "--save-baseline", "baseline.json"])
    planted = graphkit.folder / "grown.json"
    for trace in traces[1:]:
        graphkit.run(["check", trace, "--baseline", "baseline.json"])
        graphkit.run(["diff", traces[0], trace])
        planted.write_text(grown(trace), encoding="utf-8")
        graphkit.run(["check", planted, "--baseline", "baseline.json"], exit_code=1)
        graphkit.run(["diff", traces[0], planted], exit_code=1)


if __name__ == "__main__":
    run_test(check, "threads_mixed")
