"""Memory that is unmapped and mapped again under graphs, in programs that `graphkit trace` records (sleep.cu)."""

import json
import os
import re
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
    "external_gone": ("still-unmapped", "error"),
    "ipc_closed": ("still-unmapped", "error"),
    "registration_gone": ("stale-host-memory", "error"),
    "raced_after_wake": ("border-order", "error"),
    "raced_same_handle": ("border-order", "error"),
    "raced_elsewhere": ("border-order", "error"),
}
# By case, the class of the memory that sleeps, and how much was saved and copied back that need not be.
CONTENT = {
    "restored": ("constant", 0),
    "restored_from_elsewhere": ("state", 0),
    "restored_once": ("constant", 0),
    "saved_copy_changed": ("state", 0),
    "loaded_again": ("constant", 0),
    "fed_again": ("input", 0),
    "state_restored": ("state", 0),
    "scratch_restored": ("scratch", 2 << 20),
    "scratch_read": ("output", 0),
}
# By case, what has to be registered or opened again after a restart: the kind, and how much of it others have no longer.
REGISTERED = {
    "same_handle": [],
    "exported": [("shared", 0)],
    "registered": [("host", 0)],
    "external": [("imported", 0)],
    "ipc": [("imported", 0)],
    "exchanged": [("shared", 0), ("communication", 0)],
    "exchanged_new": [("communication", 2 << 20)],
    "exchanged_new_exported": [("shared", 0), ("communication", 0)],
}
# Programs that end at once leave these.
LEFT = {"block-leak", "exec-leak"}


def findings_of(folder, case, options):
    code, _, errors = trace(folder, PROGRAM, case, options=(*options, "-o", f"{case}.json"))
    assert code == 0, errors
    analyze = [BUILD / "bin/graphkit", "analyze", "--format", "json", f"{case}.json"]
    return json.loads(subprocess.run(analyze, cwd=folder, capture_output=True, text=True, check=True).stdout)["findings"]


def survive(folder, case, *words):
    """What the case needs, and the address of the memory that sleeps."""
    code, out, errors = trace(folder, PROGRAM, case, options=("--scope", "all", "-o", f"{case}.json"))
    assert code == 0, errors
    command = [BUILD / "bin/graphkit", "survive", "--format", "json", f"{case}.json", *words]
    found = json.loads(subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout)
    return found, int(next(line for line in out.splitlines() if line.startswith("content ")).split()[1], 16)


def test_what_is_copied_back_stays_what_it_was(folder):
    for case, expected in CONTENT.items():
        found, address = survive(folder, case)
        classes = {of["class"] for of in found["ranges"] if of["address"] <= address < of["address"] + of["size"]}
        assert (classes, found["restored_in_vain_bytes"]) == ({expected[0]}, expected[1]), f"{case}: {classes}, {found}"


def test_what_is_registered_or_opened_is_listed(folder):
    for case, expected in REGISTERED.items():
        found, _ = survive(folder, case, "--event", "restart")
        assert [(of["kind"], of["lost_bytes"]) for of in found["registrations"]] == expected, f"{case}: {found['registrations']}"
        assert all(of["bytes"] == 2 << 20 and of["again"] for of in found["registrations"]), f"{case}: {found['registrations']}"
        assert all((of["lost_block"] is not None) == (of["lost_bytes"] > 0) for of in found["registrations"]), case
    lost = subprocess.run([BUILD / "bin/graphkit", "survive", "exchanged_new.json"], cwd=folder, capture_output=True, text=True, check=True)
    assert re.search(r"mapped at\s+(\S+/)?mapped_memory\.cuh:[0-9]+\s+Map", lost.stdout), lost.stdout


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
