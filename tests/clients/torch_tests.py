"""Runs PyTorch's own tests of memory and graphs under `graphkit trace`, without a GPU.

    torch_tests.py --build FOLDER --python PYTHON --name NAME --tests FOLDER [TEST...]

FOLDER is test/ of the sources of the PyTorch that PYTHON has. TEST: parts of names (pytest's -k), for trying. Values that kernels compute are
not compared (torch_tests_plugin.py), and PyTorch's memory history is left to the tests (--no-torch). All tests pass but those that torch_tests.txt lists with the reason, and none of those
passes; tests in that file run last, as a capture that failed takes later ones with it. PyTorch's own skips are counted. A file in which a test ends the process is gone on with behind that test. Ends with the
numbers. Where PYTHON or the tests aren't there, all of it is skipped.
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

PARSER = argparse.ArgumentParser()
PARSER.add_argument("--build", type=pathlib.Path, required=True)
PARSER.add_argument("--python", type=pathlib.Path, required=True)
PARSER.add_argument("--name", required=True)
PARSER.add_argument("--tests", type=pathlib.Path, required=True)
PARSER.add_argument("parts", nargs="*", metavar="TEST")
OPTIONS = PARSER.parse_args()
HERE = pathlib.Path(__file__).resolve().parent
LIST = HERE / "torch_tests.txt"
FILES = ("test_cuda.py", "test_cuda_multigpu.py", "test_cuda_expandable_segments.py", "inductor/test_cudagraph_trees.py")
LIMIT_S = 1800


def listed():
    """Why a test doesn't pass, by its name: lines with names stand below their `# reason`. Those below `# last: …` pass."""
    reasons, reason = {}, ""
    for line in LIST.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            reason = line.lstrip("# ")
        elif line and not reason.startswith("last:"):
            reasons[line] = reason
    return reasons


def run(file, results, folder, done):
    """pytest in a process of its own, on the tests of the file that aren't done."""
    words = [OPTIONS.build.resolve() / "bin/graphkit", "trace", "--device", "soft", "--no-torch", "-o", folder / "trace.json", "--", OPTIONS.python,
             "-m", "pytest", "-q", "-s", "--no-header", "-p", "no:cacheprovider", "-p", "no:logging", "-p", "torch_tests_plugin", "--tb=short", file]
    if OPTIONS.parts:
        words += ["-k", " or ".join(OPTIONS.parts)]
    for test in done:
        words += ["--deselect", test]
    variables = {"GRAPHKIT_TEST_RESULTS": str(results), "GRAPHKIT_TEST_LAST": str(LIST), "PYTHONPATH": f"{HERE}:{OPTIONS.tests}:{OPTIONS.tests.parent}", "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"),
                 "GRAPHKIT_SOFT_DEVICES": "memory=16GiB,count=2"}
    with open(folder / "output.txt", "a", encoding="utf-8") as output:
        subprocess.run(list(map(str, words)), cwd=OPTIONS.tests, env={**os.environ, **variables}, stdin=subprocess.DEVNULL,
                       stdout=output, stderr=output, timeout=LIMIT_S, check=False)


def outcomes_of(file):
    """By test: its outcome, and why."""
    of = {}
    with tempfile.TemporaryDirectory() as place:
        results = pathlib.Path(place, "results")
        while True:
            results.write_text("")
            run(file, results, pathlib.Path(place), list(of))
            lines = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
            begun = {line["test"] for line in lines}
            for line in lines:
                if "outcome" in line and of.get(line["test"], ("passed",))[0] != "failed":
                    of[line["test"]] = (line["outcome"], line["why"])
            crashed = begun - of.keys()
            if not begun and not of:
                print(pathlib.Path(place, "output.txt").read_text()[-2000:], file=sys.stderr)
            if not crashed:
                return of
            for test in crashed:
                of[test] = ("failed", "ended the process")


def judge(of, reasons):
    """The lines of what is wrong with the outcomes of a file."""
    for test, (outcome, why) in of.items():
        if outcome == "failed" and test not in reasons:
            yield f"{test}: {why}"
        if outcome == "passed" and test in reasons:
            yield f"{test} passes: take it off {LIST.name}"


def main():
    if not OPTIONS.python.exists() or not OPTIONS.tests.exists():
        print(f"skipped: {OPTIONS.python if not OPTIONS.python.exists() else OPTIONS.tests} isn't there")
        print(f"{OPTIONS.name}: 0 passed, 0 failed, 1 skipped")
        return
    reasons, counts, wrong, seen = listed(), collections.Counter(), 0, set()
    for file in FILES:
        of = outcomes_of(file)
        numbers = collections.Counter(outcome for outcome, _ in of.values())
        print(f"{file}: " + ", ".join(f"{number} {outcome}" for outcome, number in sorted(numbers.items())), flush=True)
        lines = list(judge(of, reasons)) if of else [f"{file}: no test ran"]
        for line in lines:
            print(f"FAILED {OPTIONS.name} {line}", flush=True)
        wrong += len(lines)
        seen |= of.keys()
        counts.update(outcome for test, (outcome, _) in of.items() if test not in reasons)
    for test in sorted(reasons.keys() - seen) if not OPTIONS.parts else []:
        print(f"FAILED {OPTIONS.name} {test} isn't there any more: take it off {LIST.name}")
        wrong += 1
    for reason, number in collections.Counter(reasons.values()).items():
        print(f"listed: {number} {reason}")
    print(f"{OPTIONS.name}: {counts['passed']} passed, {wrong} failed, {counts['skipped']} skipped")


main()
