"""Page-locked memory of captured copies, in programs that `graphkit trace` records (staging.cu)."""

import json
import os
import subprocess

from harness import BUILD, Skipped, trace

PROGRAM = BUILD / "tests/staging"
CHECKS = "stale-host-memory,border-order"

# By case of the program, the severity of what is found, and a word of its message: of the cases that aren't here nothing.
FOUND = {
    "sent_by_another": ("note", "sent"),
    "sent_before_the_first_launch": ("note", "sent"),
    "sent_in_part": ("warning", "sent"),
    "sent_with_more": ("warning", "sent"),
    "of_an_arena": ("warning", "sent"),
    "registered": ("note", "sent"),
    "later": ("note", "sent"),
    "received": ("note", "left"),
    "received_at_once": ("note", "left"),
    "updated": ("note", "sent"),
    "sent_twice": ("note", "sent"),
    "freed": ("error", "freed"),
}


def test_staging_memory(folder):
    if not PROGRAM.exists():
        raise Skipped("no nvcc")
    libraries = {**os.environ, "LD_LIBRARY_PATH": str(BUILD / "lib/graphkit/soft_cuda")}
    cases = subprocess.run([PROGRAM], env=libraries, capture_output=True, text=True, check=True).stdout.split()
    assert set(FOUND) < set(cases), set(FOUND) - set(cases)
    wrong = []
    for case in cases:
        code, _, errors = trace(folder, PROGRAM, case, options=("-o", f"{case}.json"))
        assert code == 0, errors
        analyze = [BUILD / "bin/graphkit", "analyze", "--format", "json", "--check", CHECKS, f"{case}.json"]
        findings = json.loads(subprocess.run(analyze, cwd=folder, capture_output=True, text=True, check=True).stdout)["findings"]
        found = [(f["check"], f["severity"]) for f in findings]
        severity, word = FOUND.get(case, (None, ""))
        right = [("stale-host-memory", severity)] if severity else []
        lines = [f["evidence"][i].get("stack") for f in findings for i in (0, 1)]
        if found != right or any(f" {word} " not in f["message"] + " " and word + ":" not in f["message"] for f in findings) or not all(lines):
            wrong.append((case, found, [f["message"] for f in findings]))
    assert not wrong, "\n".join(map(str, wrong))
