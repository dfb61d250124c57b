"""The file: what it replaces, and what happens where there is no room for it."""

import json
import os
import pathlib
import re
import subprocess
import time

from harness import BUILD, Skipped, check_records, count, fork_join, load, processes, sanitized, sanitizer, trace


def test_an_older_trace_is_replaced_by_a_new_one(folder):
    (folder / "trace.json").write_text("old")
    trace(folder, *processes("capture"))
    assert count(load(folder / "trace.json"), "node") == 1
    assert sorted(os.listdir(folder)) == ["trace.json"]


def test_an_older_trace_is_not_taken_for_that_of_a_run_that_recorded_nothing(folder):
    for words, code in ((processes("query"), 0), (["true"], 0), (["sh", "-c", "exit 7"], 7)):
        (folder / "trace.json").write_text("old")
        got, _, err = trace(folder, *words)
        assert got == code and "nothing was recorded" in err, (words, got, err)
        assert f"{folder}/trace.json was there before this run: it is {folder}/trace.json.old now" in err, err
        assert os.listdir(folder) == ["trace.json.old"] and (folder / "trace.json.old").read_text() == "old"
    (folder / "trace.json").write_text("old")
    assert trace(folder, "./nowhere")[0] == 127  # no script takes that for a run
    assert (folder / "trace.json").read_text() == "old"


def test_traces_of_an_earlier_runs_processes_are_not_taken_for_ranks(folder):
    trace(folder, *processes("capture"))
    os.rename(folder / "trace.json", folder / "trace.4242.json")
    (folder / "trace.7.json").write_text("no trace")
    # A file system's clock ticks every few milliseconds, so a run can begin at the instant of the last one's end.
    os.utime(folder / "trace.4242.json", (time.time() + 5, time.time() + 5))
    err = trace(folder, *processes("capture"))[2]
    assert f"{folder}/trace.4242.json is of an earlier run, and renamed: {folder}/trace.4242.json.old" in err, err
    assert sorted(os.listdir(folder)) == ["trace.4242.json.old", "trace.7.json", "trace.json"]


def start(folder, *words):
    return subprocess.Popen([BUILD / "bin/graphkit", "trace", "--device", "soft", *words], cwd=folder, text=True,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def traces_said(err):
    return re.findall(r"records, .* → (.*)$", err, re.MULTILINE)


def test_runs_with_one_output_report_their_own_traces(folder):
    """At the same time, and one of them records nothing: it begins first, as the trace of a run that has ended is an old one
    for those that begin later. Each of the others goes on until all have recorded."""
    (folder / "trace.json").write_text("old")
    idle = start(folder, "sh", "-c", "echo started; sleep 1")
    assert idle.stdout.readline() == "started\n"
    runs = [start(folder, *map(str, processes("crowd")), str(n)) for n in range(4)] + [idle]
    assert [run.stdout.readline() for run in runs[:4]] == ["captured\n"] * 4
    ends = [run.communicate(timeout=300) for run in runs]
    assert all(run.returncode == 0 for run in runs), ends
    said = [traces_said(err) for _, err in ends]
    assert [len(paths) for paths in said] == [1, 1, 1, 1, 0] and len({p for paths in said for p in paths}) == 4, ends
    for n, paths in enumerate(said[:4]):
        process = load(paths[0])[0]
        assert process["args"] == ["crowd", str(n)], (process, paths)
    assert "nothing was recorded" in ends[4][1], ends[4]


def test_what_was_written_since_a_run_began_is_not_its_old_trace(folder):
    """A file system gives the inode of a file that is gone to another one, so an inode alone is no proof."""
    for words, said in ((["true"], "trace.json is another run's"), (processes("capture"), "records, ")):
        (folder / "trace.json").write_text("old")
        run = start(folder, "sh", "-c", 'echo started; read line; exec "$@"', "sh", *map(str, words))
        assert run.stdout.readline() == "started\n"
        (folder / "trace.json").write_text("another run's")
        err = run.communicate("go on\n", timeout=60)[1]
        assert run.returncode == 0 and said in err, err
        assert (folder / "trace.json").read_text() == "another run's", os.listdir(folder)
        assert all(path != str(folder / "trace.json") for path in traces_said(err)), err


def test_a_trace_that_is_being_written_is_not_replaced(folder):
    first = start(folder, *map(str, processes("waits")))
    assert first.stdout.readline() == "captured\n"
    inode = (folder / "trace.json").stat().st_ino
    code, _, err = trace(folder, *processes("capture"))
    assert code == 0 and "is being written by process" in err and "of another run" in err, err
    others = traces_said(err)
    assert len(others) == 1 and others[0] != str(folder / "trace.json"), err
    assert (folder / "trace.json").stat().st_ino == inode
    code, _, err = trace(folder, "true")
    assert code == 0 and "trace.json is another run's" in err, err
    _, err = first.communicate(timeout=60)
    assert first.returncode == 0 and traces_said(err) == [str(folder / "trace.json")], err
    assert load(folder / "trace.json")[0]["args"] == ["waits"] and load(others[0])[0]["args"] == ["capture"]


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
    inside = f"mount -t tmpfs -o size={kibibytes}k graphkit disk && {script}; code=$?; " \
             "stat -f -c '%a %b' disk > free; cp -r disk kept; exit $code"
    done = subprocess.run(["unshare", "-rm", "sh", "-c", inside], cwd=folder, capture_output=True, text=True,
                          timeout=120, check=False)
    if "unshare" in done.stderr or "mount:" in done.stderr:
        raise Skipped("no file systems of one's own here: " + done.stderr.strip())
    return done


def test_a_full_disk_counts_what_it_drops(folder):
    graphkit, program = BUILD / "bin/graphkit", processes("exhausted")[0]
    done = small_disk(folder, 1500, f"{graphkit} trace --device soft --no-stacks -o disk/trace.json {program} exhausted")
    assert done.returncode == 0 and done.stderr.count("No space left on device") == 1, done
    check_full(folder / "kept/trace.json", done.stderr)
    free, blocks = map(int, (folder / "free").read_text().split())
    assert blocks // 20 <= free < blocks // 4, f"{free} of {blocks} blocks are left for others"


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
    assert code == 125 and "invalid size" in err, (code, err)


def preloaded(*libraries):
    return {"LD_PRELOAD": ":".join(filter(None, [sanitizer(), *map(str, libraries)]))}


def test_a_preloaded_library_finds_its_thread_local_storage(folder):
    library = next((BUILD / "tests").glob("libtracer_tls_library.*"))
    for library in (library, *pathlib.Path("/usr/lib").glob("*/libjemalloc.so.2")):
        for words in (fork_join(), ["sh", "-c", str(fork_join()[0])]):
            check_preloaded(folder, words, preloaded(library))


def check_preloaded(folder, words, env):
    code, out, err = trace(folder, *words, env=env)
    assert code == 0 and out.startswith("fork_join: ") and "TLS" not in err, (words, env, code, out, err)
    assert count(load(folder / "trace.json"), "node") > 0


def test_a_small_library_that_a_script_preloads_does_too(folder):
    for library in ((BUILD / "tests").glob("libtracer_tls_small.*"), pathlib.Path("/usr/lib").glob("*/libjemalloc.so.2")):
        for path in library:
            preload = "LD_PRELOAD=" + preloaded(path)["LD_PRELOAD"]
            check_preloaded(folder, ["env", preload, *fork_join()], None)
            check_preloaded(folder, ["sh", "-c", f"{preload} {fork_join()[0]}"], None)


def test_a_users_tunables_stay(folder):
    library = next((BUILD / "tests").glob("libtracer_tls_library.*"))
    tunables = "glibc.malloc.check=0:glibc.rtld.optional_static_tls=4096:glibc.malloc.perturb=0"
    _, out, _ = trace(folder, "env", env={**preloaded(library), "GLIBC_TUNABLES": tunables})
    got = re.search(r"^GLIBC_TUNABLES=(.*)$", out, re.MULTILINE).group(1).split(":")
    assert got[:2] == ["glibc.malloc.check=0", "glibc.malloc.perturb=0"], got
    name, bytes_ = got[2].split("=")
    assert name == "glibc.rtld.optional_static_tls" and int(bytes_) >= 4096 + 256 * 1024, got
    _, out, _ = trace(folder, "env")
    got = re.search(r"^GLIBC_TUNABLES=glibc.rtld.optional_static_tls=(.*)$", out, re.MULTILINE)
    assert int(got.group(1)) == 512 + 4096 or sanitized(), out
