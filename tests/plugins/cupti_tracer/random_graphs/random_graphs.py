"""Random programs, traced: each trace says of every graph what the CUDA API said of it.

    random_graphs.py --graphkit GRAPHKIT --programs FOLDER [--seed N] [--count M] [--keep FOLDER]
    random_graphs.py --trace TRACE --dump STDOUT      of a run that is done
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "e2e"))
from graphkit_cli import Failure, Graphkit  # noqa: E402
from two_views import differences  # noqa: E402

IN_A_PROCESS = 10  # programs
ENOUGH = 50  # programs, for each way of spoiling their traces to be noticed
SHOWN = 5  # differences
WAYS = (("random_graphs", []), ("random_graphs", ["--scope", "all"]), ("random_graphs_per_thread", []))
# Commands that read each trace without an error. The policies that aren't here share memory where only launch order
# says that they may.
READERS = (["analyze"], ["plan"], ["replay", "--verify", "--allocator", "xstream,last-use,reuse,optimal"], ["dot"])


def arguments():
    rounds = min(int(os.environ.get("GRAPHKIT_TEST_ROUNDS", "1")), 20)
    parser = argparse.ArgumentParser()
    parser.add_argument("--graphkit", type=pathlib.Path)
    parser.add_argument("--programs", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("GRAPHKIT_TEST_SEED", "1")))
    parser.add_argument("--count", type=int, default=50 * rounds)
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the traces")
    parser.add_argument("--trace", type=pathlib.Path)
    parser.add_argument("--dump", type=pathlib.Path)
    return parser.parse_args()


def compare(trace, dump):
    try:
        found = differences(json.loads(trace.read_text())["records"], dump.splitlines())
    except (OSError, ValueError) as error:
        raise Failure(f"{trace}: cut off or not there: {error}") from error
    if found:
        raise Failure("\n".join([f"{trace}: {len(found)} differences", *found[:SHOWN]]))


def without(kind, key=None):
    """How a trace is spoilt: it loses all records of a kind, or these lose a key."""
    def spoil(record):
        if record["type"] != kind:
            return record
        return {name: value for name, value in record.items() if name != key} if key else None
    return spoil


# Each must be noticed, in one of the traces.
SPOILT = (without("edge", "from_port"), without("edge_removed"), without("node", "access"), without("node", "grid"),
          without("node", "event"), without("node", "memory"), without("node_set"), without("launch"),
          without("graph", "original"), without("exec_updated"), without("graph_destroyed"),
          without("capture_end", "error"))


def unnoticed(spoilt, trace, dump):
    """Of the ways to spoil a trace, those that make no difference in this one."""
    records = json.loads(trace.read_text())["records"]
    return [spoil for spoil in spoilt
            if not differences([kept for kept in map(spoil, records) if kept is not None], dump.splitlines())]


def check(graphkit, program, options, seed, count):
    """Traces programs, compares, and lets all that reads traces read it; the trace and what was printed."""
    trace = graphkit.folder / f"{program.name}{''.join(options)}_{seed}.json"
    words = ["--seed", seed, "--count", count]
    dump = graphkit.run(["trace", "--device", "soft", *options, "-o", trace, program, *words])
    trace.with_suffix(".dump").write_text(dump)
    compare(trace, dump)
    incomplete = '"type":"note"' in trace.read_text()  # an update of an exec, as CUDA 12 tells it
    for reader in READERS:
        graphkit.run([*reader, trace], exit_code=3 if incomplete else 0)
    return trace, dump


def check_all(given, folder):
    graphkit = Graphkit(given.graphkit, folder)
    end = given.seed + given.count
    spoilt = SPOILT
    for number, seed in enumerate(range(given.seed, end, IN_A_PROCESS)):
        program, options = WAYS[number % len(WAYS)]
        count = min(IN_A_PROCESS, end - seed)
        trace, dump = check(graphkit, given.programs.resolve() / program, options, seed, count)
        spoilt = unnoticed(spoilt, trace, dump)
    if spoilt and given.count >= ENOUGH:
        raise Failure(f"that traces were spoilt goes unnoticed: SPOILT{[SPOILT.index(spoil) for spoil in spoilt]}")


def main():
    given = arguments()
    try:
        if given.trace:
            compare(given.trace, given.dump.read_text())
        elif given.keep:
            check_all(given, given.keep)
        else:
            with tempfile.TemporaryDirectory() as folder:
                check_all(given, folder)
    except Failure as failure:
        print(failure)
        return 1
    print("0 differences")
    return 0


if __name__ == "__main__":
    sys.exit(main())
