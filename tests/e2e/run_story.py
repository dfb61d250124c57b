"""Traces a workload and compares all that graphkit makes of it with the story that the workload tells.

    run_story.py NAME --graphkit BINARY --workloads FOLDER --golden FOLDER --out FOLDER [--update]

The story is stories/NAME.py: ARGUMENTS, STDOUT (what the program prints), GRAPHS, FINDINGS, …, with the numbers worked
out by hand. `--update` writes the golden trace instead of comparing it.
"""

import argparse
import difflib
import importlib
import pathlib
import sys

from expect import report_differences
from graphkit_cli import Failure, Graphkit
from normalise import normalise


def compare_with_golden(got, golden, update):
    """Lines that say where the normalised trace differs from the golden one."""
    if update:
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(got, encoding="utf-8")
        return []
    if not golden.exists():
        return [f"there is no golden trace {golden}: make it with --update"]
    wanted = golden.read_text(encoding="utf-8")
    if got == wanted:
        return []
    diff = difflib.unified_diff(wanted.splitlines(), got.splitlines(), str(golden), "traced", n=1, lineterm="")
    return ["the trace isn't the golden one (--update rewrites it):", *list(diff)[:60]]


def run_story(name, options):
    story = importlib.import_module(f"stories.{name}")
    graphkit = Graphkit(options.graphkit, pathlib.Path(options.out) / name)
    program = pathlib.Path(options.workloads) / getattr(story, "PROGRAM", name)
    trace, stdout = graphkit.trace(program, getattr(story, "ARGUMENTS", []), name)
    lines = []
    if stdout != story.STDOUT:
        lines.append(f"the program printed {stdout!r}, expected {story.STDOUT!r}")
    if getattr(story, "GOLDEN", True):
        normalised = normalise(trace.read_text(encoding="utf-8"))
        lines += compare_with_golden(normalised, pathlib.Path(options.golden) / f"{name}.json", options.update)
    lines += report_differences(story, graphkit.analyze(trace))
    graphkit.draw(trace)
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name")
    for option in ("--graphkit", "--workloads", "--golden", "--out"):
        parser.add_argument(option, required=True)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    try:
        lines = run_story(options.name, options)
    except Failure as failure:
        lines = [str(failure)]
    print("\n".join(lines) if lines else f"{options.name}: as told")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
