"""Programs and libraries with the CUDA runtime inside, as nvcc links them by default, or with an RPATH to one, on the
software device.

    audit_test.py --build FOLDER

The workloads linked that way leave the traces of the shared ones (tests/e2e, e2e_trace_static_*); here is what they
don't have: libraries that are opened late, threads that meet in their first call, a program at a fixed address, and
those that can't be led, which have to be told so.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

PARSER = argparse.ArgumentParser()
PARSER.add_argument("--build", type=pathlib.Path, required=True)
BUILD = PARSER.parse_args().build.resolve()


def trace(folder, *words, **variables):
    """Exit code, stdout, stderr and the records of `graphkit trace`."""
    command = [BUILD / "bin/graphkit", "trace", "--device", "soft", "--no-torch", "-o", "trace.json", "--", *words]
    done = subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True, timeout=300,
                          env={**os.environ, **variables})
    path = pathlib.Path(folder, "trace.json")
    records = json.loads(path.read_text())["records"] if path.exists() else []
    return done.returncode, done.stdout, done.stderr, records


def count(records, kind):
    return sum(record["type"] == kind for record in records)


def library_is_traced(folder, library, threads):
    code, out, err, records = trace(folder, BUILD / "tests/open_library", BUILD / "tests" / library, threads)
    assert code == 0 and out == f"nodes {3 * threads}\n", (code, out, err)
    assert count(records, "graph") == threads and count(records, "node") == 3 * threads, err
    kinds = {record.get("kind") for record in records if record["type"] == "stream"}
    assert kinds == {"per_thread"}, kinds


def a_library_that_is_opened_late(folder):
    library_is_traced(folder, "libcaptured.so", 1)


def threads_that_meet_in_their_first_call(folder):
    for _ in range(10):
        library_is_traced(folder, "libcaptured.so", 8)


def a_library_of_cuda_12(folder):
    if not (BUILD / "tests/libcaptured12.so").exists():
        print("skipped: a_library_of_cuda_12, no CUDA 12 toolkit (tools/setup.sh test)")
        return
    library_is_traced(folder, "libcaptured12.so", 2)


def a_program_at_a_fixed_address(folder):
    program = BUILD / "workloads_static/fork_join_no_pie"
    assert program.read_bytes()[16] == 2, "it is a PIE"  # ET_EXEC
    code, out, err, records = trace(folder, program)
    assert code == 0 and out == "fork_join: captures 1, nodes 15\n", (code, out, err)
    assert count(records, "node") == 15, err


def an_rpath_to_another_runtime(folder):
    program = pathlib.Path(folder, "fork_join")
    shutil.copy(BUILD / "workloads_static/fork_join_rpath", program)
    pathlib.Path(folder, "other_runtime").mkdir()
    pathlib.Path(folder, "other_runtime/libcudart.so.13").write_bytes(b"no library")
    code, _, err, records = trace(folder, program)
    assert code == 0 and count(records, "node") == 15, err


def a_process_that_it_starts(folder):
    code, _, err, records = trace(folder, "sh", "-c", f"{BUILD}/workloads_static/fork_join; true")
    assert code == 0, err
    assert count(records, "node") == 15, err


def a_stripped_program_is_told(folder):
    program = pathlib.Path(folder, "stripped")
    shutil.copy(BUILD / "workloads_static/fork_join", program)
    subprocess.run(["strip", str(program)], check=True)
    code, _, err, _ = trace(folder, program)
    assert code != 0, "its first call can't work"
    assert str(program) in err and "symbol table is stripped" in err and "nvcc -cudart shared" in err, err


def another_audit_library_is_kept(folder):
    code, _, err, records = trace(folder, BUILD / "workloads_static/fork_join", LD_AUDIT="/no/such/library.so")
    assert code == 0 and "/no/such/library.so" in err and count(records, "node") == 15, err


TESTS = [a_library_that_is_opened_late, threads_that_meet_in_their_first_call, a_library_of_cuda_12, a_program_at_a_fixed_address, an_rpath_to_another_runtime, a_process_that_it_starts,
         a_stripped_program_is_told, another_audit_library_is_kept]
for test in TESTS:
    with tempfile.TemporaryDirectory() as temporary:
        test(temporary)
    print("passed", test.__name__)
