"""Counts each command's instructions on the traces of many.h at N and 4 N: what grows faster than the trace fails.

    linear_test.py --graphkit BINARY --traces BINARY --out FOLDER [--most RATIO] [--size N] [--kind KIND]… [--command NAME]…

Instructions of the smallest trace are those of the program's start, and are taken off. valgrind counts them, so that a
busy machine changes nothing; without it the test is skipped. Without --kind and --command it tries all of them.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

COMMANDS = {
    "analyze": ["analyze"],
    "survive": ["survive"],
    "check": ["check"],
    "coverage": ["analyze", "--coverage"],
    "diff": ["diff", "{trace}"],
    "dot": ["dot"],
    "export": ["export", "--format", "perfetto"],
    "explain": [],
    "plan": ["plan"],
    "replay": ["replay"],
    "report": ["report", "-o", "{folder}/page.html"],
}
KINDS = ["buffer", "unordered", "pool", "stream", "exec", "line", "event", "forks", "threads", "nesting",
         "loops", "children", "border"]
START = 2  # the size of the smallest trace
MOST = 4.8  # times the instructions for four times the size: sorting and trees take a little more than four


def instructions(graphkit, words):
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", graphkit, *words]
    result = subprocess.run(command, env={**os.environ, "GRAPHKIT_THREADS": "1"}, stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, text=True)
    found = re.search(r"I\s+refs:\s+([\d,]+)", result.stderr)
    if result.returncode not in (0, 1, 3) or not found:
        raise SystemExit(f"linear_test: {' '.join(words)}: exit code {result.returncode}\n{result.stderr}")
    return int(found[1].replace(",", ""))


def counted(task):
    program, arguments, kind, name, size = task
    trace = str(arguments.out / f"{kind}.{size}.json")
    words = [word.format(trace=trace, folder=arguments.out) for word in COMMANDS[name]]
    return instructions(program, words[:1] + [trace] + words[1:])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--graphkit", required=True)
    parser.add_argument("--traces", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--size", type=int, default=100)
    parser.add_argument("--most", type=float, default=MOST)
    parser.add_argument("--command", action="append", choices=COMMANDS)
    parser.add_argument("--kind", action="append", choices=KINDS)
    arguments = parser.parse_args()
    if shutil.which("valgrind") is None:
        print("skipped: no valgrind (tools/setup.sh test)")
        return 77
    arguments.out.mkdir(parents=True, exist_ok=True)
    program = arguments.out / "graphkit"  # valgrind 3.19 can't read all of clang's debug information
    subprocess.run(["strip", "--strip-debug", "-o", program, arguments.graphkit], check=True)
    sizes = [START, arguments.size, 4 * arguments.size]
    subprocess.run([arguments.traces, arguments.out, *map(str, sizes)], check=True)
    commands, kinds = arguments.command or list(COMMANDS), arguments.kind or KINDS
    tasks = [(program, arguments, kinds[0], name, START) for name in commands]
    tasks += [(program, arguments, kind, name, size) for kind in kinds for name in commands for size in sizes[1:]]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        counts = list(pool.map(counted, tasks))
    starts = dict(zip(commands, counts))
    rest = iter(counts[len(commands):])
    failed = False
    for kind in kinds:
        for name in commands:
            small, large = (count - starts[name] for count in (next(rest), next(rest)))
            worse = large > arguments.most * small
            failed = failed or worse
            print(f"{kind:10} {name:9} {small / 1e6:9.2f} M {large / 1e6:9.2f} M {large / small:6.2f}"
                  f"{'  more than linear' if worse else ''}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
