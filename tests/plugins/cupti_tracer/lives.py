"""How programs begin and end, fork and are interrupted, and who else is in them."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys

from harness import BUILD, Skipped, count, load, load_cut_off, processes, sanitized, trace


def test_exit_codes_are_the_programs(folder):
    assert trace(folder, "sh", "-c", "exit 7")[0] == 7
    assert trace(folder, "sh", "-c", "kill -TERM $$")[0] == 128 + signal.SIGTERM
    assert trace(folder, "./missing")[0] == 127
    (folder / "plain").write_text("not a program")
    assert trace(folder, "./plain")[0] == 126
    assert trace(folder, "true", options=["--nonsense"])[0] == 125


def test_a_program_that_uses_cuda_for_nothing_is_explained(folder):
    code, _, err = trace(folder, *processes("query"))
    assert code == 0 and "initialised CUDA, but allocated, captured and launched nothing" in err, err
    assert "itself uses no CUDA" in trace(folder, "true")[2]
    err = trace(folder, sys.executable, "-c", "import ctypes; ctypes.CDLL('libcuda.so.1').cuInit(0)")[2]
    assert "initialised CUDA, but allocated" in err and "uses no CUDA" not in err, err
    script = folder / "script.sh"
    script.write_text(f"#!/bin/sh\n{' '.join(map(str, processes('query')))}\n")
    script.chmod(0o755)
    err = trace(folder, script)[2]
    assert "or a program that it started, initialised CUDA" in err, err


def test_a_program_that_clears_its_environment_is_told_so(folder):
    err = trace(folder, *processes("clearenv"))[2]
    assert "or did so after CUDA_INJECTION64_PATH was unset" in err, err


def test_a_seccomp_filter_that_kills_for_files_kills_nothing(folder):
    code, _, err = trace(folder, *processes("filter", "3"))
    assert code == 0 and count(load(folder / "trace.json"), "node") == 4, err
    code, _, err = trace(folder, *processes("filter", "200000"))
    assert code == 0 and "the program has set a seccomp filter" in err, err


def test_a_thread_with_the_smallest_stack_captures(folder):
    code, _, err = trace(folder, *processes("thread"))
    assert code == 0 and count(load(folder / "trace.json"), "node") == 4, err


def test_a_forked_child_writes_its_own_trace(folder):
    code, out, _ = trace(folder, *processes("fork"))
    assert code == 0, code
    child = load(folder / f"trace.{out.strip()}.json")
    assert count(child, "alloc") == 1 and count(child, "node") == 0
    assert count(load(folder / "trace.json"), "node") == 3


def test_an_executed_program_does_not_overwrite_what_came_before(folder):
    trace(folder, *processes("exec"))
    before = load_cut_off(folder / "trace.json")
    assert count(before, "alloc") == 1
    others = [name for name in os.listdir(folder) if name != "trace.json"]
    assert len(others) == 1 and re.fullmatch(r"trace\.\d+\.json", others[0]), others
    assert count(load(folder / others[0]), "node") == 1


def test_processes_side_by_side_give_one_file_each(folder):
    program = str(processes("capture")[0])
    trace(folder, "sh", "-c", " & ".join([f"{program} capture"] * 4) + "; wait")
    files = os.listdir(folder)
    assert len(files) == 4 and "trace.json" in files, files
    for name in files:
        assert count(load(folder / name), "node") == 1


def test_exit_handlers_are_recorded(folder):
    env = {**os.environ, "LD_LIBRARY_PATH": str(BUILD / "lib/graphkit/soft_cuda")}
    if subprocess.run(processes("handler"), env=env, timeout=60, check=False).returncode < 0:
        raise Skipped("the software device doesn't outlive main here, with or without the tracer")
    trace(folder, *processes("handler"))
    assert count(load(folder / "trace.json"), "free") == 1


def test_exit_without_handlers_and_abort_lose_nothing_but_the_end(folder):
    for how, code in (("exit", 6), ("abort", 128 + signal.SIGABRT)):
        ended, _, err = trace(folder, *processes(how), options=["-o", f"{how}.json"])
        assert ended == code and "cut off" in err, (how, ended, err)
        records = load_cut_off(folder / f"{how}.json")
        assert count(records, "node") == 1 and count(records, "capture_end") == 1


def test_deadly_signals_lose_nothing_but_the_end(folder):
    # Sanitizers would answer the signal with a report and an exit code of their own.
    plain = {name: os.environ.get(name, "") + ":handle_segv=0" for name in ("ASAN_OPTIONS", "TSAN_OPTIONS")}
    code, _, err = trace(folder, *processes("segv"), env=plain)
    assert code == 128 + signal.SIGSEGV and "cut off" in err, (code, err)
    records = load_cut_off(folder / "trace.json")
    assert count(records, "node") == 1 and count(records, "capture_end") == 1
    assert trace(folder, *processes("handled"))[0] == 8  # exit() in a handler: the end is written
    assert count(load(folder / "trace.json"), "node") == 1


def test_signals_that_interrupt_calls_lose_nothing(folder):
    code, _, err = trace(folder, *processes("alarms"))
    assert code == 0 and "dropped" not in err, (code, err)
    assert count(load(folder / "trace.json"), "node") == 20000


def test_signals_reach_the_program(folder):
    command = [BUILD / "bin/graphkit", "trace", "--device", "soft", "sh", "-c",
               "trap 'exit 9' TERM; echo ready; while :; do sleep 0.05; done"]
    program = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert program.stdout.readline() == b"ready\n"
    program.terminate()
    assert program.wait(timeout=20) == 9


def test_streams_pass_through(folder):
    done = subprocess.run([BUILD / "bin/graphkit", "trace", "--device", "soft", "cat", "-", "--", "extra"],
                          cwd=folder, input=b"hello", capture_output=True, timeout=60)
    assert done.stdout == b"hello", done


def test_closed_stderr_does_no_harm(folder):
    assert trace(folder, *processes("stderr"))[0] == 0
    load(folder / "trace.json")


def test_who_holds_cupti_is_said_with_the_way_out(folder):
    library = shutil.copy(next((BUILD / "tests").glob("libtracer_closed_library.*")), folder / "libToolsInjection64.so")
    likely = "CUPTI is held by another tool, most likely "
    for holder, env, said in (
            ("other profiler", {}, 'CUPTI is held by "CUPTI for other profiler": nothing is recorded; run without it'),
            ("torch-cuspy", {}, "CUPTI is held by PyTorch (CUPTI for torch-cuspy): nothing is recorded; capture without "
             "annotation_config's record_py_stacks and backend \"cupti\" (torch.cuda.graph; \"edge_walk\" needs no CUPTI), "
             "and profile without Cuspy"),
            (library, {}, f"{likely}Nsight Systems ({library} is loaded): nothing is recorded; run without nsys"),
            ("", {"KINETO_USE_DAEMON": "1"}, f"{likely}torch.profiler (Kineto) (KINETO_USE_DAEMON is set): nothing is "
             "recorded; run without KINETO_USE_DAEMON"),
            ("", {}, "another tool holds CUPTI (torch.profiler, Nsight, …): nothing is recorded; run without it")):
        code, _, err = trace(folder, *processes("held", *([holder] if holder else [])), env=env)
        assert code == 0 and f"graphkit: {said}\n" in err, (code, err)
        assert os.listdir(folder) == ["libToolsInjection64.so"], os.listdir(folder)


def test_a_tool_that_asks_for_cupti_gets_it_and_the_trace_says_so(folder):
    code, _, err = trace(folder, *processes("letgo"))
    assert code == 0 and "graphkit: a profiler needs CUPTI: recording ends here\n" in err, (code, err)
    records = load_cut_off(folder / "trace.json")
    assert count(records, "capture_end") == 1 and count(records, "exec") == 1, records
    notes = ["recording ended early, so that a profiler could subscribe to CUPTI: what came later isn't known"]
    assert [r["text"] for r in records if r["type"] == "note"] == notes, records
    analyze = [BUILD / "bin/graphkit", "analyze", "--format", "json", folder / "trace.json"]
    done = subprocess.run(analyze, capture_output=True, text=True, timeout=60)
    report = json.loads(done.stdout)
    assert done.returncode == 3 and report["incomplete_because"] == notes, done
    assert not [f for f in report["findings"] if "leak" in f["check"]], report["findings"]


def test_only_the_entry_points_are_exported(folder):
    library = BUILD / "lib/graphkit/libgraphkit_tracer.so"
    symbols = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    names = sorted(line.split()[-1] for line in symbols.stdout.splitlines())
    assert names == ["InitializeInjection", "InitializeInjectionNvtx2", "InitializeInjectionNvtxExtension",
                     "graphkit_annotate_v1", "graphkit_let_go_of_cupti", "ncclProfiler_v4"], names
    dynamic = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
    needed = set(re.findall(r"NEEDED.*\[(.*)\]", dynamic))
    assert not [n for n in needed if "cuda" in n or "cupti" in n or "stdc++" in n], needed


def test_address_sanitizer_names_freed_memory_that_a_launch_copies(folder):
    if sanitized():
        raise Skipped("the tracer has a sanitizer of its own")
    options = {"env": {"ASAN_OPTIONS": "detect_leaks=0"}}
    code, _, err = trace(folder, BUILD / "tests/stale_heap", "fixed", **options)
    assert code == 0, err
    assert count(load(folder / "trace.json"), "launch") == 2
    code, _, err = trace(folder, BUILD / "tests/stale_heap", **options)
    assert code != 0 and "heap-use-after-free" in err, (code, err)
    launch, freed = err.split("freed by thread", 1)
    assert "stale_heap" in launch and "stale_heap" in freed, err  # a line, or a place in the file
