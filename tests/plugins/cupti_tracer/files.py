"""The file: what it replaces, and what happens where there is no room for it."""

import json
import os
import subprocess

from harness import BUILD, Skipped, check_records, count, fork_join, load, processes, trace


def test_an_older_trace_stays_until_there_is_a_new_one(folder):
    (folder / "trace.json").write_text("old")
    trace(folder, *processes("query"))
    assert (folder / "trace.json").read_text() == "old"
    trace(folder, *processes("capture"))
    assert count(load(folder / "trace.json"), "node") == 1
    assert sorted(os.listdir(folder)) == ["trace.json"]


def test_an_output_that_cannot_be_written_is_said_before_the_program_runs(folder):
    code, out, err = trace(folder, "echo", "ran", options=["-o", "/nowhere/trace.json"])
    assert code == 125 and out == "" and "cannot write into /nowhere" in err, (code, out, err)
    code, _, err = trace(folder, "true", options=["-o", "/dev/null"])
    assert code == 125 and "is not a file" in err, err
    # Without `graphkit trace`: one line, and the program goes on.
    env = {**os.environ, "LD_LIBRARY_PATH": str(BUILD / "lib/graphkit/soft_cuda"),
           "CUDA_INJECTION64_PATH": str(BUILD / "lib/graphkit/libgraphkit_tracer.so"),
           "GRAPHKIT_TRACE_OUT": "/nowhere/trace.json"}
    done = subprocess.run(fork_join(), env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout.startswith("fork_join: "), done
    assert done.stderr.count("\n") == 1 and "nothing is recorded" in done.stderr, done.stderr


def check_full(path, err):
    """A trace that found no more room says what is in it and what isn't, and reads as incomplete."""
    records = load(path)
    assert records[-2]["type"] == "dropped" and records[-2]["records"] > 1000, records[-2]
    assert err.count("the trace ends here, and says so") == 1 and "dropped" in err, err
    done = subprocess.run([BUILD / "bin/graphkit", "analyze", path], capture_output=True, text=True, timeout=120,
                          check=False)
    assert done.returncode == 3, (done.returncode, done.stderr)


def check_no_room(folder, err, why):
    """Where there is no room for a trace, nothing stays behind, and nobody says that the program did nothing."""
    assert os.listdir(folder) == [], os.listdir(folder)
    assert f"{why}; nothing is recorded: " in err and "captured and launched nothing" not in err, err


def test_a_full_trace_counts_what_it_drops(folder):
    for limit in (4300, 5000, 8000, 1 << 20):
        code, _, err = trace(folder, *processes("exhausted"), env={"GRAPHKIT_TRACE_LIMIT": str(limit)})
        assert code == 0 and err.count("reached its size limit") == 1, err
        assert (folder / "trace.json").stat().st_size <= limit
        check_full(folder / "trace.json", err)


def test_a_limit_that_leaves_no_room_is_said(folder):
    code, _, err = trace(folder, *processes("exhausted"), env={"GRAPHKIT_TRACE_LIMIT": "1000"})
    assert code == 0, err
    check_no_room(folder, err, "the trace has reached its size limit")
    command = f"ulimit -f 1; exec {BUILD}/bin/graphkit trace --device soft {processes('exhausted')[0]} exhausted"
    done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done
    check_no_room(folder, done.stderr, "the trace has reached the limit on file sizes (ulimit -f)")


def small_disk(folder, kibibytes, script):
    """Runs a shell script where ./disk is a file system of its own of that size."""
    (folder / "disk").mkdir()
    inside = f"mount -t tmpfs -o size={kibibytes}k graphkit disk && {script}; code=$?; cp -r disk kept; exit $code"
    done = subprocess.run(["unshare", "-rm", "sh", "-c", inside], cwd=folder, capture_output=True, text=True,
                          timeout=120, check=False)
    if "unshare" in done.stderr or "mount:" in done.stderr:
        raise Skipped("no file systems of one's own here: " + done.stderr.strip())
    return done


def test_a_full_disk_counts_what_it_drops(folder):
    graphkit, program = BUILD / "bin/graphkit", processes("exhausted")[0]
    done = small_disk(folder, 1500, f"{graphkit} trace --device soft -o disk/trace.json {program} exhausted")
    assert done.returncode == 0 and done.stderr.count("No space left on device") == 1, done
    check_full(folder / "kept/trace.json", done.stderr)


def test_a_disk_that_is_full_at_once_is_said(folder):
    graphkit, program = BUILD / "bin/graphkit", processes("capture")[0]
    script = f"head -c 100k /dev/zero > disk/full 2>/dev/null; {graphkit} trace --device soft " \
             f"-o disk/trace.json {program} capture"
    done = small_disk(folder, 64, script)
    assert done.returncode == 0, done
    (folder / "kept/full").unlink()
    check_no_room(folder / "kept", done.stderr, "cannot write the trace: No space left on device")


def test_a_file_size_limit_of_the_shell_counts_what_it_drops(folder):
    for kibibytes in (8, 1500, 2048):
        command = f"ulimit -f {kibibytes}; exec {BUILD}/bin/graphkit trace --device soft {processes('exhausted')[0]} exhausted"
        done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, timeout=120,
                              check=False)
        assert done.returncode == 0, done  # SIGXFSZ would have ended it
        check_full(folder / "trace.json", done.stderr)


def test_a_small_buffer_changes_nothing_but_the_memory(folder):
    assert trace(folder, *fork_join("--nodes", "2000"), options=["--buffer", "64KiB"])[0] == 0
    assert count(load(folder / "trace.json"), "node") == 1995
    code, _, err = trace(folder, *fork_join(), options=["--buffer", "much"])
    assert code == 125 and "is no size" in err, (code, err)
