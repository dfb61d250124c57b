#!/usr/bin/env python3
"""Compares `graphkit plan --capacity` with minimalloc's program, table by table, in turn.

    plan_family_tables FOLDER even
    plan_race.py --graphkit build/bin/graphkit --minimalloc PROGRAM FOLDER

A table's name ends with its capacity: 008-experts.1048576.csv. Both programs check their plans.
Shown are the tables that were solved within the limit, and user seconds of processor time; one that
was stopped counts with what it took by then.
"""

import argparse
import collections
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

Run = collections.namedtuple("Run", "solved seconds")


def run(command, limit):
    """Runs a program with a limit of processor time."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)))
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return Run(process.returncode == 0, usage.ru_utime)


def race(table, arguments, output):
    capacity = table.stem.rsplit(".", 1)[1]
    ours = [arguments.graphkit, "plan", str(table), "--capacity", capacity]
    theirs = [arguments.minimalloc, f"--capacity={capacity}", "--timeout=3600s", f"--input={table}",
              f"--output={output}", "--validate"]
    return run(ours, arguments.seconds), run(theirs, arguments.seconds)


def row(name, runs):
    cells = [f"{sum(r.solved for r in side)}, {sum(r.seconds for r in side):.2f} s" for side in zip(*runs)]
    both = [pair for pair in runs if all(r.solved for r in pair)]
    cells += [f"{sum(r.seconds for r in side):.2f}" for side in zip(*both)] or ["—", "—"]
    return f"| {name} | {len(runs)} | " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphkit", required=True)
    parser.add_argument("--minimalloc", required=True)
    parser.add_argument("--seconds", type=int, default=10, help="of processor time, for one table")
    parser.add_argument("--each", action="store_true", help="one row a table, not a shape")
    parser.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()
    groups = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as scratch:
        for table in sorted(arguments.folder.glob("*.csv")):
            pair = race(table, arguments, os.path.join(scratch, "plan.csv"))
            print(table.name, *pair, file=sys.stderr)
            shape = re.sub(r"^\d+-|\.\d+$", "", table.stem)
            groups[table.stem if arguments.each else shape].append(pair)
    print("| shape | tables | graphkit: solved | minimalloc: solved | graphkit s, both solved | minimalloc s, both solved |")
    print("|---|---|---|---|---|---|")
    for name, runs in groups.items():
        print(row(name, runs))
    print(row("all", [pair for runs in groups.values() for pair in runs]))


if __name__ == "__main__":
    main()
