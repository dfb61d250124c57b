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


RENAMED = """
#include <stdio.h>
#include <string.h>
int cudaMalloc(void**, size_t);
int cudaRuntimeGetVersion(int*);
int main(void) {
  void* memory = 0;
  int version = 0, others = 0;
  char line[4096];
  FILE* maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps) != 0) others += strstr(line, "cudart") != 0 && strstr(line, "soft_cuda") == 0;
  cudaRuntimeGetVersion(&version);
  printf("%d %d %d\\n", cudaMalloc(&memory, 1024), version / 1000, others);
}
"""


def linked_with(folder, version, name):
    """A program that needs a runtime of this version under this name: one whose functions end the process with 86."""
    names = "cudaMalloc cudaRuntimeGetVersion __cudaRegisterFatBinary".split()
    source = "".join(f"void {function}(void) {{ _exit(86); }}\n" for function in names)
    pathlib.Path(folder, "runtime.c").write_text("#include <unistd.h>\n" + source)
    pathlib.Path(folder, "runtime.map").write_text(f"libcudart.so.{version} {{ global: *; }};\n")
    pathlib.Path(folder, "program.c").write_text(RENAMED)
    subprocess.run(["cc", "-s", "-shared", "-fPIC", f"-Wl,-soname,{name}", "-Wl,--version-script=runtime.map", "-o", name, "runtime.c"],
                   cwd=folder, check=True)
    subprocess.run(["cc", "-w", "-o", "program", "program.c", f"./{name}", "-Wl,-rpath,$ORIGIN"], cwd=folder, check=True)
    return pathlib.Path(folder, "program")


def a_shared_runtime_with_another_name(folder):
    for version in ("13", "12"):
        program = linked_with(folder, version, f"libcudart.0a1b2c3d.so.{version}")
        code, out, err, records = trace(folder, program)
        assert code == 0 and out == f"0 {version} 0\n", (code, out, err)
        assert records, err


def a_runtime_of_cuda_11_is_told(folder):
    program = linked_with(folder, "11.0", "libcudart.0a1b2c3d.so.11.0")
    code, out, err, _ = trace(folder, program)
    assert code == 86, (code, out, err)
    assert "libcudart.0a1b2c3d.so.11.0 is the runtime of CUDA 11 or older" in err, err
    assert "install a build of it for CUDA 12 or 13" in err, err


TESTS = [a_shared_runtime_with_another_name, a_runtime_of_cuda_11_is_told, a_library_that_is_opened_late, threads_that_meet_in_their_first_call, a_library_of_cuda_12, a_program_at_a_fixed_address, an_rpath_to_another_runtime, a_process_that_it_starts,
         a_stripped_program_is_told, another_audit_library_is_kept]
for test in TESTS:
    with tempfile.TemporaryDirectory() as temporary:
        test(temporary)
    print("passed", test.__name__)
