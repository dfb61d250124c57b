"""The gate against its own baseline, pair by pair: a run with a planted regression must not pass, an unchanged rerun
must pass. A pair is a row of the tables below; traces are those of testdata, changed by trace_edit.

usage: gate_pairs.py GRAPHKIT TESTDATA
"""

import concurrent.futures
import dataclasses
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
from typing import Callable, Sequence

import trace_edit as edit

PASSED, FAILED, REFUSED = 0, 1, 3


@dataclasses.dataclass
class Pair:
    what: str
    base: str  # in testdata
    change: Callable  # of its records, to records or to the text of a file
    code: int
    arguments: Sequence[str] = ()


def same(records: list) -> list:
    return records


def deferred(records: list) -> list:
    return edit.deferred(records, edit.freed_in_capture(records)[0])


def leaked_in_capture(records: list) -> list:
    block = edit.freed_in_capture(records)[0]
    return edit.without(records, lambda r: r["type"] == "free" and r["memory"] == block)


def unordered(records: list) -> list:
    """Nothing waits for another stream any more."""
    stream = {r["id"]: r.get("stream") for r in records if r["type"] == "node"}

    def across(r: dict) -> bool:
        return r["type"] == "edge" and stream[r["from"]] != stream[r["to"]]

    return edit.without(records, lambda r: across(r) or r["type"] in ("event_wait", "event_record"))


def renamed(records: list) -> list:
    return [r | {"name": f"other {r['id']}"} if r["type"] == "graph" else r for r in records]


def reordered(records: list) -> list:
    return edit.interleaved(records, 1, by="graph")


def bigger(records: list) -> list:
    """Doubles the first graph's allocation."""
    block = next(r["id"] for r in records if r["type"] == "alloc" and "graph" in r and "stream" in r)
    return [r | {"size": 2 * r["size"]} if r["type"] == "alloc" and r["id"] == block else r for r in records]


def cut(share: float) -> Callable:
    return lambda records: edit.written(records[:int(len(records) * share)], whole=False)


def dropped(records: list) -> list:
    return records + [{"type": "dropped", "records": 1}]


def no_graph(records: list) -> list:
    return records[:1]


def left_open(records: list) -> list:
    return edit.without(records, lambda r: r["type"] in ("capture_end", "exec", "launch", "exec_destroyed"))


def invalidated(records: list) -> list:
    kept = edit.without(records, lambda r: r["type"] in ("exec", "launch", "exec_destroyed"))
    return [r | {"error": 900} if r["type"] == "capture_end" else r for r in kept]


def without_sizes(records: list) -> list:
    """Memory-alloc nodes, and no record of memory."""
    def memory(r: dict) -> bool:
        return r["type"] in ("alloc", "free", "segment", "segment_freed")

    kept = edit.without(records, memory)
    return [{k: v for k, v in r.items() if k not in ("memory", "access")} for r in kept]


def never_launched(records: list) -> list:
    return edit.without(records, lambda r: r["type"] == "launch")


def without_segments(records: list) -> list:
    kept = edit.without(records, lambda r: r["type"].startswith("segment"))
    return [{k: v for k, v in r.items() if k != "segment"} for r in kept]


def both(*changes: Callable) -> Callable:
    def change(records: list) -> list:
        for one in changes:
            records = one(records)
        return records

    return change


STEP, SERVER, FORK, STREAMS = "training_step", "inference_server", "fork_join", "record_stream"
THREADS, PDL, LEAKY = "threads", "programmatic", "leaky"

REGRESSIONS = [
    Pair("a free waits for the end of the capture", STEP, deferred, FAILED),
    Pair("the same in one of several graphs", SERVER, deferred, FAILED),
    Pair("a budget of what waits", SERVER, deferred, FAILED, ("--limit", "max-deferred=0")),
    Pair("a block of a graph isn't freed", STEP, leaked_in_capture, FAILED),
    Pair("a graph allocates more", SERVER, bigger, FAILED),
    Pair("streams aren't ordered any more", STREAMS, unordered, FAILED, ("--fail-on", "warning")),
    Pair("streams with memory nodes aren't ordered any more", FORK, unordered, FAILED),
    Pair("a graph is captured twice", SERVER, edit.with_another_graph, FAILED),
    Pair("other names hide a deferral", SERVER, both(renamed, deferred), FAILED),
    Pair("threads in another order hide a graph that allocates more", THREADS, both(reordered, bigger), FAILED),
    Pair("another order hides a graph that allocates more", PDL, both(reordered, bigger), FAILED),
    Pair("a graph is never launched", STEP, never_launched, FAILED),
    Pair("none of several graphs is launched", SERVER, never_launched, FAILED),
    Pair("segments aren't recorded any more", STEP, without_segments, FAILED),
    Pair("the file is cut near its end", STEP, cut(0.95), REFUSED),
    Pair("the file is cut in the capture", STEP, cut(0.4), REFUSED),
    Pair("the file is cut before the graph", STEP, cut(0.02), REFUSED),
    Pair("the tracer dropped records", STEP, dropped, REFUSED),
    Pair("nothing was captured", STEP, no_graph, REFUSED),
    Pair("the capture is still open", STEP, left_open, REFUSED),
    Pair("the captures are still open", SERVER, left_open, REFUSED),
    Pair("the capture failed", FORK, invalidated, FAILED),
    Pair("memory nodes without sizes", FORK, without_sizes, REFUSED),
    Pair("a budget over memory nodes without sizes", PDL, without_sizes, REFUSED, ("--limit", "max-peak=1GiB")),
]

RERUNS = [Pair(f"{name}: {what}", name, change, PASSED)
          for name in (STEP, SERVER, FORK, STREAMS, THREADS, PDL, LEAKY, "explicit_graph", "changed_nodes")
          for what, change in (("unchanged", same), ("as another process", edit.elsewhere))]
RERUNS += [Pair(f"other interleaving of threads {seed}", THREADS,
                lambda records, seed=seed: edit.elsewhere(edit.interleaved(records, seed), seed << 32), PASSED)
           for seed in range(1, 11)]
RERUNS += [
    Pair("other names", SERVER, renamed, PASSED),
    Pair("graphs captured in another order", PDL, reordered, PASSED),
    Pair("graphs of many threads in another order", THREADS, reordered, PASSED),
]


class Gate:
    def __init__(self, graphkit: str, testdata: pathlib.Path, folder: pathlib.Path):
        self.graphkit, self.testdata, self.folder, self.problems = graphkit, testdata, folder, []

    def run(self, *arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run([self.graphkit, *arguments], cwd=self.folder, capture_output=True, text=True)

    def expect(self, what: str, code: int, *arguments: str) -> None:
        done = self.run(*arguments)
        if done.returncode != code:
            told = done.stdout + done.stderr
            self.problems.append(f"{what}: exit {done.returncode}, expected {code}\n{' '.join(arguments)}\n{told}")

    def records(self, name: str) -> list:
        return edit.read(self.testdata / "traces/soft" / f"{name}.json")

    def save(self, base: str) -> str:
        (self.folder / f"{base}.json").write_text(edit.written(self.records(base)))
        self.expect(f"the baseline of {base}", PASSED, "check", f"{base}.json", "--save-baseline", f"{base}.baseline")
        return f"{base}.baseline"

    def judge(self, number: int, pair: Pair) -> None:
        changed = pair.change(self.records(pair.base))
        text = changed if isinstance(changed, str) else edit.written(changed)
        (self.folder / f"{number}.json").write_text(text)
        self.expect(pair.what, pair.code, "check", f"{number}.json", "--baseline", f"{pair.base}.baseline",
                    *pair.arguments)


def judge_ranks(gate: Gate) -> None:
    """Ranks of one job are known by their files, in whatever order they are given."""
    for rank in range(3):
        records = edit.elsewhere(gate.records(STEP), rank << 36)
        (gate.folder / f"rank{rank}.json").write_text(edit.written(records))
    ranks = [f"rank{rank}.json" for rank in range(3)]
    gate.expect("the baseline of ranks", PASSED, "check", *ranks, "--save-baseline", "ranks.baseline")
    gate.expect("ranks in another order", PASSED, "check", *ranks[::-1], "--baseline", "ranks.baseline")
    gate.expect("a rank is missing", REFUSED, "check", *ranks[1:], "--baseline", "ranks.baseline")
    (gate.folder / "rank1.json").write_text(edit.written(deferred(gate.records(STEP))))
    gate.expect("one rank defers", FAILED, "check", *ranks, "--baseline", "ranks.baseline")


def judge_imports(gate: Gate) -> None:
    snapshot = gate.testdata / "import/snapshot.pickle"
    budget = ("--limit", "max-peak=1GiB,max-deferred=1GiB")
    gate.expect("the baseline of a snapshot", PASSED, "check", str(snapshot), "--save-baseline", "snapshot.baseline")
    gate.expect("the same snapshot", PASSED, "check", str(snapshot), "--baseline", "snapshot.baseline", *budget)
    content = pickle.loads(snapshot.read_bytes())
    for device in content["device_traces"]:  # a ring buffer keeps the last events
        del device[:len(device) // 2]
    (gate.folder / "ring.pickle").write_bytes(pickle.dumps(content))
    gate.expect("a snapshot whose history wrapped", REFUSED, "check", "ring.pickle", "--baseline", "snapshot.baseline")
    for name in ("step.dot", "graph_data.pickle", "profile.json"):
        file = str(gate.testdata / "import" / name)
        gate.expect(f"a budget over {name}", REFUSED, "check", file, *budget)
        gate.expect(f"leaks of {name}", REFUSED, "check", file, "--limit", "max-leaks=0")
        gate.expect(f"the baseline of {name}", REFUSED, "check", file, "--save-baseline", "none.baseline")
        gate.expect(f"{name} against a baseline", REFUSED, "check", file, "--baseline", "snapshot.baseline")
    if (gate.folder / "none.baseline").exists():
        gate.problems.append("a baseline was saved of a file without sizes")


def main() -> int:
    graphkit, testdata = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    pairs = REGRESSIONS + RERUNS
    with tempfile.TemporaryDirectory() as folder:
        gate = Gate(graphkit, testdata, pathlib.Path(folder))
        for base in sorted({pair.base for pair in pairs}):
            gate.save(base)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(gate.judge, range(len(pairs)), pairs))
        judge_ranks(gate)
        judge_imports(gate)
    print("\n".join(gate.problems) or f"{len(pairs)} pairs, ranks and imports: the gate holds")
    return 1 if gate.problems else 0


if __name__ == "__main__":
    sys.exit(main())
