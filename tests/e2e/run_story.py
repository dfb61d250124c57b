"""Compares what graphkit makes of a workload with the story that the workload tells.

    run_story.py trace  NAME --graphkit BINARY --golden FOLDER --out FOLDER --workloads FOLDER [--cuda 12] [--update]
    run_story.py report NAME --graphkit BINARY --golden FOLDER --out FOLDER

`trace` runs the workload on the software device and compares what it prints, its trace with the golden trace, and
draws it. With `--cuda 12` the workload is one of CUDA 12, and all that may differ in its trace is the version of CUPTI.
`--update` writes the golden trace instead of comparing it. `report` analyzes the golden trace and compares
the numbers: it needs neither CUDA nor nvcc. (A story without a golden trace analyzes what `trace` left in --out.)

The story is stories/NAME.py: STDOUT, GRAPHS, FINDINGS, …, with the numbers worked out by hand.
"""

import argparse
import difflib
import importlib
import pathlib
import sys

from expect import differences, report_differences
from graphkit_cli import Failure, Graphkit
from normalise import normalise


# The version that the software device's CUPTI reports.
CUPTI_12, CUPTI_13 = 28, 130001


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


def without_cuda12(text):
    """The trace of a CUDA 12 program as a CUDA 13 program would have left it."""
    wanted = f'"cupti":{CUPTI_12}'
    if wanted not in text:
        raise Failure(f"the trace wasn't made through libcupti.so.12: no {wanted} in {text.splitlines()[1]}")
    return text.replace(wanted, f'"cupti":{CUPTI_13}', 1)


def has_golden(story):
    return getattr(story, "GOLDEN", True)


def golden_trace(options):
    return pathlib.Path(options.golden).resolve() / f"{options.name}.json"


def check_trace(story, graphkit, options):
    program = pathlib.Path(options.workloads).resolve() / getattr(story, "PROGRAM", options.name)
    trace, stdout = graphkit.trace(program, getattr(story, "ARGUMENTS", []), options.name)
    lines = []
    if stdout != story.STDOUT:
        lines.append(f"the program printed {stdout!r}, expected {story.STDOUT!r}")
    if has_golden(story):
        normalised = normalise(trace.read_text(encoding="utf-8"))
        if options.cuda == 12:
            normalised = without_cuda12(normalised)
        lines += compare_with_golden(normalised, golden_trace(options), options.update)
    return lines + differences(getattr(story, "DRAWN", {}), graphkit.draw(trace), "drawn")


def check_report(story, graphkit, options):
    trace = golden_trace(options) if has_golden(story) else graphkit.folder / f"{options.name}.json"
    return report_differences(story, graphkit.analyze(trace))


STEPS = {"trace": check_trace, "report": check_report}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=STEPS)
    parser.add_argument("name")
    for option in ("--graphkit", "--golden", "--out"):
        parser.add_argument(option, required=True)
    parser.add_argument("--workloads")
    parser.add_argument("--cuda", type=int, choices=(12, 13), default=13)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    story = importlib.import_module(f"stories.{options.name}")
    graphkit = Graphkit(options.graphkit, pathlib.Path(options.out) / options.name)
    try:
        lines = STEPS[options.step](story, graphkit, options)
    except Failure as failure:
        lines = [str(failure)]
    print("\n".join(lines) if lines else f"{options.name}: as told")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
