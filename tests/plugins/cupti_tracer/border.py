"""Order across the border of graphs, in programs that `graphkit trace` records by default (border.cu)."""

import json
import os
import subprocess

from harness import BUILD, Skipped, trace

# By case of the program, what is found: of the cases that aren't here nothing.
FOUND = {
    "copy_in": ("border-order", "error"),
    "kernel_in": ("border-order", "warning"),
    "copy_out": ("border-order", "error"),
    "kernel_out": ("border-order", "warning"),
    "only_there": ("border-order", "error"),
    "two_graphs": ("shared-workspace", "warning"),
    "two_execs": ("shared-workspace", "error"),
    "host_written": ("border-order", "error"),
    "host_written_registered": ("border-order", "error"),
    "host_result_read": ("border-order", "error"),
    "benchmark": ("border-order", "warning"),
    "pageable_in": ("border-order", "error"),
    "pageable_async_in": ("border-order", "error"),
    "device_in": ("border-order", "error"),
    "read_back_pinned": ("border-order", "error"),
    "legacy_beside": ("border-order", "error"),
    "per_thread": ("border-order", "error"),
    "told_by_function": ("border-order", "note"),
}
CHECKS = "border-order,shared-workspace,send-buffer-reuse"


def test_the_border_of_graphs(folder):
    program = BUILD / "tests/border"
    if not program.exists():
        raise Skipped("no nvcc")
    libraries = {**os.environ, "LD_LIBRARY_PATH": str(BUILD / "lib/graphkit/soft_cuda")}
    cases = subprocess.run([program], env=libraries, capture_output=True, text=True, check=True).stdout.split()
    assert set(FOUND) < set(cases), set(FOUND) - set(cases)
    wrong = []
    for case in cases:
        code, _, errors = trace(folder, program, case, options=("-o", f"{case}.json"))
        assert code == 0, errors
        analyze = [BUILD / "bin/graphkit", "analyze", "--format", "json", "--check", CHECKS, f"{case}.json"]
        report = json.loads(subprocess.run(analyze, cwd=folder, capture_output=True, text=True, check=True).stdout)
        found = [(f["check"], f["severity"]) for f in report["findings"]]
        expected = [FOUND[case]] if case in FOUND else []
        if case == "host_out":
            expected = [("border-order", "error"), ("send-buffer-reuse", "error")]
        gate = [BUILD / "bin/graphkit", "check", f"{case}.json"]
        passed = subprocess.run(gate, cwd=folder, capture_output=True).returncode == 0
        if sorted(found) != expected or passed != all(severity == "note" for _, severity in expected):
            wrong.append((case, found, passed, [f["message"] for f in report["findings"]]))
    assert not wrong, "\n".join(map(str, wrong))
