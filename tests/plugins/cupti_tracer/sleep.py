"""Memory that is unmapped and mapped again under graphs, in programs that `graphkit trace` records (sleep.cu)."""

import json
import os
import subprocess

from harness import BUILD, Skipped, trace

PROGRAM = BUILD / "tests/sleep"

# By case of the program, what is found, and the words of its message: of the cases that aren't here nothing.
FOUND = {
    "constant": ("read-after-wake", "error"),
    "constant_kernel": ("read-after-wake", "warning"),
    "state": ("read-after-wake", "error"),
    "half": ("read-after-wake", "error"),
    "second_time": ("read-after-wake", "error"),
    "too_late": ("read-after-wake", "error"),
    "updated_asleep": ("read-after-wake", "warning"),
    "left_unmapped": ("still-unmapped", "error"),
    "left_unmapped_kernel": ("still-unmapped", "error"),
    "elsewhere": ("still-unmapped", "error"),
    "new_elsewhere": ("still-unmapped", "error"),
    "other_left": ("still-unmapped", "error"),
    "one_call": ("still-unmapped", "error"),
}
# Programs that end at once leave these.
LEFT = {"block-leak", "exec-leak"}


def findings_of(folder, case, options):
    code, _, errors = trace(folder, PROGRAM, case, options=(*options, "-o", f"{case}.json"))
    assert code == 0, errors
    analyze = [BUILD / "bin/graphkit", "analyze", "--format", "json", f"{case}.json"]
    return json.loads(subprocess.run(analyze, cwd=folder, capture_output=True, text=True, check=True).stdout)["findings"]


def judge(folder, options):
    if not PROGRAM.exists():
        raise Skipped("no nvcc")
    libraries = {**os.environ, "LD_LIBRARY_PATH": str(BUILD / "lib/graphkit/soft_cuda")}
    cases = subprocess.run([PROGRAM], env=libraries, capture_output=True, text=True, check=True).stdout.split()
    assert set(FOUND) < set(cases), set(FOUND) - set(cases)
    wrong = []
    for case in cases:
        findings = [f for f in findings_of(folder, case, options) if f["severity"] != "note" and f["check"] not in LEFT]
        found = [(f["check"], f["severity"]) for f in findings]
        if found != ([FOUND[case]] if case in FOUND else []):
            wrong.append((case, found, [f["message"] for f in findings]))
    assert not wrong, "\n".join(map(str, wrong))


def test_sleep(folder):
    judge(folder, ())


def test_sleep_with_all_work(folder):
    judge(folder, ("--scope", "all"))
