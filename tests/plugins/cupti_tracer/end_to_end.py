"""The tracer in real processes, on the software device, through `graphkit trace`.

    end_to_end.py --build BUILD [--endurance] [name…]

GRAPHKIT_TEST_ROUNDS makes the tests of endurance as many times as long.
"""

import argparse
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

BUILD = pathlib.Path()
ENDURANCE = {"kill_9_at_any_moment_leaves_whole_records", "small_graphs_that_come_and_go_leave_no_memory_behind"}
ROUNDS = int(os.environ.get("GRAPHKIT_TEST_ROUNDS", 1))
KILLS = 4 * ROUNDS          # 200 in long runs (50 rounds)
NODES = 200_000 * ROUNDS    # 10 million


class Skipped(Exception):
    """A test that can't be run here, and why."""


def trace(folder, *words, options=(), env=None, **kwargs):
    """Runs `graphkit trace`; returns its exit code, stdout and stderr."""
    command = [BUILD / "bin/graphkit", "trace", "--device", "soft", *options, "--", *map(str, words)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=1200,
                          env={**os.environ, **(env or {})}, **kwargs)
    return done.returncode, done.stdout, done.stderr


def sanitized():
    return re.search(r"^GRAPHKIT_SANITIZE:\w+=.", (BUILD / "CMakeCache.txt").read_text(), re.MULTILINE) is not None


def processes(*words):
    return [BUILD / "tests/tracer_processes", *words]


def fork_join(*words):
    return [BUILD / "workloads/fork_join", *words]


def load(path):
    """A whole trace, after checking what docs/format.md promises: any JSON reader takes it."""
    text = pathlib.Path(path).read_text()
    document = json.loads(text)
    assert list(document) == ["schema", "version", "device", "records"], list(document)
    records = document["records"]
    assert records[-1]["type"] == "end" and text.endswith("]}\n"), records[-1]
    check_records(records[:-1])
    assert records[-1]["records"] == len(records) - 1
    for kind, key in (("node", "nodes"), ("edge", "edges"), ("alloc", "blocks"), ("launch", "launches")):
        assert records[-1][key] == sum(r["type"] == kind for r in records), kind
    return records


def load_cut_off(path):
    """What a killed process left: whole lines, each a record."""
    lines = pathlib.Path(path).read_bytes().split(b"\n")
    assert lines[0].startswith(b'{"schema":"graphkit-trace","version":1,'), lines[0]
    records = [json.loads(line.rstrip(b",")) for line in lines[1:-1]]
    check_records(records)
    return records


DEFINES = {"stream": "stream", "event": "event", "thread": "thread", "graph": "graph", "node": "node",
           "edge": "edge", "exec": "exec", "alloc": "memory", "pool": "pool", "segment": "segment",
           "kernel": "kernel", "capture_begin": "capture"}
REFERS = {"stream": "stream", "event": "event", "thread": "thread", "graph": "graph", "exec": "exec",
          "memory": "memory", "pool": "pool", "segment": "segment", "kernel": "kernel", "capture": "capture",
          "node": "node", "edge": "edge", "from": "node", "to": "node", "parent": "node", "original": "graph"}


def check_records(records):
    """Ids are dense, in order of appearance, and referred to only once they have appeared."""
    seen = dict.fromkeys(DEFINES.values(), 0)
    for record in records:
        for key, kind in REFERS.items():
            if key in record:
                assert record[key] < seen[kind], (key, record)
        for access in record.get("access", []):
            assert access[0] < seen["memory"], record
        if kind := DEFINES.get(record["type"]):
            assert record["id"] == seen[kind], record
            seen[kind] += 1


def count(records, kind):
    return sum(record["type"] == kind for record in records)


def test_fork_join_gives_the_documented_graph(folder):
    code, out, err = trace(folder, *fork_join())
    assert code == 0 and out.startswith("fork_join: "), (code, out)
    records = load(folder / "trace.json")
    assert count(records, "node") == 15 and count(records, "edge") == 15
    assert "15 nodes in 1 graph" in err, err
    streams = [r["stream"] for r in records if r["type"] == "node"]
    assert streams == [0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0], streams


def test_a_profile_of_what_ran_finds_its_nodes(folder):
    code, _, err = trace(folder, *fork_join())
    assert code == 0, err
    records = load(folder / "trace.json")
    nodes = [r for r in records if r["type"] == "node"]
    kernels = [r["name"] for r in records if r["type"] == "kernel"]
    exec_ = next(r for r in records if r["type"] == "exec")
    ids = {first + i: tool_id << 32 | number + i
           for first, count_, tool_id, number in exec_["node_ids"] for i in range(count_)}
    assert sorted(ids) == [n["id"] for n in nodes if n["graph"] == exec_["graph"]], ids
    assert {i >> 32 for i in ids.values()} == {exec_["tool_id"]}, exec_
    launch = next(r for r in records if r["type"] == "launch")
    assert launch["correlation"] > 0, launch
    # As Kineto writes what ran: by the ids of the exec's nodes.
    events = [{"ph": "X", "cat": "kernel", "name": kernels[n["kernel"]], "ts": 1, "dur": n["id"] + 1,
               "args": {"graph id": exec_["tool_id"], "graph node id": ids[n["id"]],
                        "correlation": launch["correlation"]}} for n in nodes if n["kind"] == "kernel"]
    (folder / "profile.json").write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    graphkit = BUILD / "bin/graphkit"
    done = subprocess.run([graphkit, "import", "merge", "trace.json", "profile.json", "-o", "all.json"],
                          cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    merged = json.loads((folder / "all.json").read_text())["records"]
    for node in (r for r in merged if r["type"] == "node" and r["kind"] == "kernel"):
        assert node["duration_ns"] == 1000 * (node["id"] + 1), node
    table = subprocess.run([graphkit, "export", "trace.json", "--format", "csv", "--table", "exec-nodes"], cwd=folder,
                           capture_output=True, text=True, check=True).stdout
    rows = [line.split(",") for line in table.splitlines()[1:]]
    assert {int(r[2]): int(r[3]) for r in rows if r[0] == str(exec_["id"])} == ids, table


def test_exit_codes_are_the_programs(folder):
    assert trace(folder, "sh", "-c", "exit 7")[0] == 7
    assert trace(folder, "sh", "-c", "kill -TERM $$")[0] == 128 + signal.SIGTERM
    assert trace(folder, "./missing")[0] == 127
    (folder / "plain").write_text("not a program")
    assert trace(folder, "./plain")[0] == 126
    assert trace(folder, "true", options=["--nonsense"])[0] == 125


def test_an_older_trace_stays_until_there_is_a_new_one(folder):
    (folder / "trace.json").write_text("old")
    trace(folder, *processes("query"))
    assert (folder / "trace.json").read_text() == "old"
    trace(folder, *processes("capture"))
    assert count(load(folder / "trace.json"), "node") == 1
    assert sorted(os.listdir(folder)) == ["trace.json"]


def test_a_program_that_uses_cuda_for_nothing_is_explained(folder):
    code, _, err = trace(folder, *processes("query"))
    assert code == 0 and "allocated, captured and launched nothing" in err, err
    assert "uses no CUDA" in trace(folder, "true")[2]


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


def test_cupti_that_another_tool_holds_is_said(folder):
    code, _, err = trace(folder, *processes("held"))
    assert code == 0 and "another tool holds CUPTI" in err, (code, err)
    assert os.listdir(folder) == [], os.listdir(folder)


def test_signals_that_interrupt_calls_lose_nothing(folder):
    code, _, err = trace(folder, *processes("alarms"))
    assert code == 0 and "dropped" not in err, (code, err)
    assert count(load(folder / "trace.json"), "node") == 20000


def test_libraries_that_are_closed_again_are_traced(folder):
    library = next((BUILD / "tests").glob("libtracer_closed_library.*"))
    for options in ([], ["--stacks"]):
        code, _, err = trace(folder, *processes("closed", library), options=options)
        assert code == 0, (code, err)
        records = load(folder / "trace.json")
        assert count(records, "node") == 20 and count(records, "graph") == 20
    frames = [frame[0] for r in records if r["type"] == "stack" for frame in r["frames"]]
    assert "Capture" in frames, frames


def test_a_call_that_breaks_a_capture_says_where_and_with_what(folder):
    trace(folder, BUILD / "workloads/invalidated")
    records = load(folder / "trace.json")
    stacks = [r["frames"] for r in records if r["type"] == "stack"]
    failures = [r for r in records if r["type"] == "failure"]
    assert failures[0]["call"] == "cudaMalloc" and failures[0]["args"].startswith("bytesize="), failures[0]
    assert all("stack" in f and "thread" in f and "graph" in f for f in failures), failures
    assert not any("stack" in r for r in records if r["type"] == "node")
    assert any("main" in frame[0] for frame in stacks[failures[0]["stack"]]), stacks
    trace(folder, BUILD / "workloads/invalidated", options=["--stacks=0"])
    assert count(load(folder / "trace.json"), "stack") == 0


def kill_at(moment, path):
    """Kills a program that captures and launches, so long after its first words; what it had captured by then."""
    env = {**os.environ, "LD_LIBRARY_PATH": str(BUILD / "lib/graphkit/soft_cuda"),
           "CUDA_INJECTION64_PATH": str(BUILD / "lib/graphkit/libgraphkit_tracer.so"),
           "GRAPHKIT_TRACE_OUT": str(path)}
    program = subprocess.Popen(fork_join("--nodes", "1000000000"), env=env, stdout=subprocess.PIPE)
    os.set_blocking(program.stdout.fileno(), False)
    deadline = time.monotonic() + 60
    said = b""
    while b"\n" not in said and time.monotonic() < deadline:
        time.sleep(0.01)
        said += program.stdout.read() or b""
    time.sleep(moment)
    program.kill()
    program.wait()
    said += program.stdout.read() or b""
    return int(re.findall(rb"captured (\d+) nodes\n", said)[-1])


def test_kill_9_at_any_moment_leaves_whole_records(folder):
    seed = random.randrange(1 << 30)
    print(f"    seed {seed}, {KILLS} times")
    moments = random.Random(seed)
    for _ in range(KILLS):
        path = folder / "killed.json"
        captured = kill_at(moments.random() * 0.2, path)
        nodes = count(load_cut_off(path), "node")
        assert nodes >= captured, (nodes, captured)
        done = subprocess.run([BUILD / "bin/graphkit", "analyze", "--format", "json", path], capture_output=True,
                              text=True, timeout=120, check=False)
        report = json.loads(done.stdout)
        assert done.returncode == 3 and report["totals"]["nodes"] == nodes, (done.returncode, done.stderr, nodes)
        path.unlink()


def test_small_graphs_that_come_and_go_leave_no_memory_behind(folder):
    code, out, err = trace(folder, *processes("small", NODES))
    assert code == 0, (code, err)
    early, late = map(int, out.split())
    print(f"    {NODES} nodes: {early} KiB after a tenth, {late} KiB in the end")
    # Sanitizers keep freed memory for a while.
    assert sanitized() or late - early < 512 + NODES // 2048, "more than the software device itself keeps: half a byte a node"
    with open(folder / "trace.json", "rb") as file:
        file.seek(-300, os.SEEK_END)
        end = json.loads(file.read().decode().splitlines()[-1].removesuffix("]}"))
    assert end["type"] == "end" and end["nodes"] == NODES, end


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


def test_a_full_trace_counts_what_it_drops(folder):
    code, _, err = trace(folder, *processes("exhausted"), env={"GRAPHKIT_TRACE_LIMIT": "1048576"})
    assert code == 0 and err.count("reached its size limit") == 1 and "dropped" in err, err
    records = json.loads((folder / "trace.json").read_text())["records"]
    assert records[-2]["type"] == "dropped" and records[-2]["records"] > 10000, records[-2]
    check_records(records[:-1])


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
    assert done.returncode == 0, done
    assert done.stderr.count("No space left on device") == 1 and "dropped" in done.stderr, done.stderr
    records = json.loads((folder / "kept/trace.json").read_text())["records"]
    assert records[-2]["type"] == "dropped" and records[-2]["records"] > 1000, records[-2]
    check_records(records[:-1])


def test_a_disk_that_is_full_at_once_is_said(folder):
    graphkit, program = BUILD / "bin/graphkit", processes("capture")[0]
    script = f"dd if=/dev/zero of=disk/full bs=1k count=60 status=none; {graphkit} trace --device soft " \
             f"-o disk/trace.json {program} capture"
    done = small_disk(folder, 64, script)
    assert done.returncode == 0, done
    assert "No space left on device" in done.stderr and "nothing is recorded" in done.stderr, done.stderr


def test_a_file_size_limit_of_the_shell_counts_what_it_drops(folder):
    program = processes("exhausted")[0]
    done = subprocess.run(["sh", "-c", f"ulimit -f 2048; trap '' XFSZ; exec {BUILD}/bin/graphkit trace --device soft "
                           f"{program} exhausted"], cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done
    assert "dropped" in done.stderr, done.stderr
    records = json.loads((folder / "trace.json").read_text())["records"]
    assert records[-2]["type"] == "dropped", records[-2]


def test_a_small_buffer_changes_nothing_but_the_memory(folder):
    assert trace(folder, *fork_join("--nodes", "2000"), options=["--buffer", "64KiB"])[0] == 0
    assert count(load(folder / "trace.json"), "node") == 1995
    code, _, err = trace(folder, *fork_join(), options=["--buffer", "much"])
    assert code == 125 and "is no size" in err, (code, err)


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


def test_a_program_with_both_runtimes_is_traced_whole(folder):
    program = BUILD / "tests/two_runtimes"
    if not program.exists():
        raise Skipped("no CUDA 12 toolkit to build it with (tools/setup.sh test)")
    code, out, err = trace(folder, program)
    assert code == 0 and out == "13 12\n", (code, out, err)
    records = load(folder / "trace.json")
    assert [count(records, kind) for kind in ("graph", "node", "edge", "launch")] == [2, 3, 1, 2], records
    names = [r["name"] for r in records if r["type"] == "kernel"]
    assert names == ["_Z6SecondPf", "_Z5FirstPf"], names
    touched = [r["access"] for r in records if r["type"] == "node"]
    assert touched[0] == touched[1] == touched[2] and touched[0][0][0] == 0, touched


def test_a_program_of_cuda_12_is_traced_through_its_own_cupti(folder):
    program = BUILD / "workloads12/fork_join"
    if not program.exists():
        raise Skipped("no CUDA 12 toolkit to build it with (tools/setup.sh test)")
    assert trace(folder, program)[0] == 0
    path = load(folder / "trace.json")[0]["cupti_path"]
    assert path.endswith("libcupti.so.12"), path


def test_nodes_of_every_kind_made_in_every_way_are_recorded(folder):
    program = BUILD / "tests/every_way"
    if not program.exists():
        raise Skipped("no nvcc")
    code, _, err = trace(folder, program, env={"NVTX_INJECTION64_PATH": str(BUILD / "lib/graphkit/libgraphkit_tracer.so")})
    assert code == 0, err
    records = load(folder / "trace.json")
    graphs = [r for r in records if r["type"] == "graph"]
    nodes = [r for r in records if r["type"] == "node"]

    def kinds(graph):
        return [n["kind"] for n in nodes if n["graph"] == graph]

    plain = ["kernel", "kernel", "memcpy", "memset", "host", "empty", "event_record", "event_wait",
             "semaphore_signal", "semaphore_wait"]
    whole = ["graph", "mem_alloc", "mem_free", "conditional", "batch_mem_op"]
    captured = ["empty", "kernel", "kernel", "host", "event_record", "event_wait", "semaphore_signal", "batch_mem_op"]
    assert [(g["origin"], kinds(g["id"])) for g in graphs] == [
        ("explicit", plain), ("explicit", whole), ("child", plain), ("body", ["kernel"]), ("explicit", captured),
        ("clone", captured)], [(g["origin"], kinds(g["id"])) for g in graphs]
    # Each graph's edges, by the places of their nodes in it; with data where it isn't a full one.
    place = {n["id"]: sum(m["graph"] == n["graph"] for m in nodes[:n["id"]]) for n in nodes}
    edges = {}
    for e in (r for r in records if r["type"] == "edge"):
        data = (e["from_port"], e["edge_type"]) if "from_port" in e else ()
        edges.setdefault(nodes[e["from"]]["graph"], []).append((place[e["from"]], place[e["to"]], *data))
    chain = [(i, i + 1) for i in range(len(captured) - 1)]
    forked = [(0, 1, 1, 1), (0, 2)]
    assert edges == {0: forked, 1: [(1, 2)], 2: forked, 4: chain, 5: chain}, edges
    # The exec: what CUPTI calls all of its nodes, and the child graph's new parameters.
    exec_ = next(r for r in records if r["type"] == "exec")
    named = sorted(first + i for first, number, _, _ in exec_["node_ids"] for i in range(number))
    assert named == [n["id"] for n in nodes if n["graph"] in (1, 2, 3)], exec_
    assert len({(g, n) for _, _, g, n in exec_["node_ids"]}) == len(exec_["node_ids"]), exec_
    sets = [{k: v for k, v in r.items() if k != "t"} for r in records if r["type"] == "node_set"]
    child = next(n["id"] for n in nodes if n["kind"] == "graph")
    assert sets == [{"type": "node_set", "node": child, "exec": 0, "what": "params", "child": 0}], sets
    pushes = [(r["domain"], r["name"], r["colour"]) for r in records if r["type"] == "nvtx_push"]
    assert pushes == [("every", "way", "0xff76b900")] and count(records, "nvtx_pop") == 1, pushes


def test_call_stacks_name_the_programs_functions(folder):
    code, _, err = trace(folder, *fork_join(), options=["--stacks"])
    assert code == 0, err
    records = load(folder / "trace.json")
    stacks = [r["frames"] for r in records if r["type"] == "stack"]
    assert len(stacks) == len({json.dumps(s) for s in stacks}), "a stack is written twice"
    nodes = [r for r in records if r["type"] == "node"]
    assert all("stack" in n for n in nodes), nodes
    frames = stacks[nodes[2]["stack"]]
    assert frames[-1][0] == "main" and any("Capture(" in f[0] for f in frames), frames
    assert all("libcu" not in f[1] for f in frames), frames
    trace(folder, *fork_join(), options=["--stacks=1"])
    records = load(folder / "trace.json")
    assert {len(r["frames"]) for r in records if r["type"] == "stack"} == {1}
    trace(folder, *fork_join())
    assert count(load(folder / "trace.json"), "stack") == 0


PYTHON = """
import ctypes

cuda = ctypes.CDLL("libcudart.so.13")  # which gives up the interpreter's lock around calls


def check(error):
    assert error == 0, error


class Möbius:
    def fill(self, stream, data):
        check(cuda.cudaMemsetAsync(data, 0, ctypes.c_size_t(64),
                                   stream))


data, stream, graph = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
check(cuda.cudaMalloc(ctypes.byref(data), ctypes.c_size_t(64)))
check(cuda.cudaStreamCreate(ctypes.byref(stream)))
check(cuda.cudaStreamBeginCapture(stream, 2))
list(map(lambda n: Möbius().fill(stream, data), range(2)))
check(cuda.cudaStreamEndCapture(stream, ctypes.byref(graph)))
"""


def test_call_stacks_have_the_functions_of_python(folder):
    if sys.version_info[:2] != (3, 11):
        raise Skipped(f"the tracer doesn't know Python {sys.version_info[0]}.{sys.version_info[1]}")
    script = folder / "capture.py"
    script.write_text(PYTHON)
    line = {text.strip(): at for at, text in enumerate(PYTHON.split("\n"), 1)}
    for depth in ("64", "2"):
        code, _, err = trace(folder, sys.executable, script, options=["--stacks=" + depth])
        assert code == 0, err
        records = load(folder / "trace.json")
        stacks = [r["frames"] for r in records if r["type"] == "stack"]
        fills = [stacks[r["stack"]] for r in records if r["type"] == "node"]
        assert len(fills) == 2 and fills[0] == fills[1], fills
        python = [tuple(f) for f in fills[0] if f[1] == str(script)]
        assert python == [
            ("Möbius.fill", str(script), line["check(cuda.cudaMemsetAsync(data, 0, ctypes.c_size_t(64),"]),
            ("<lambda>", str(script), line["list(map(lambda n: Möbius().fill(stream, data), range(2)))"]),
            ("<module>", str(script), line["list(map(lambda n: Möbius().fill(stream, data), range(2)))"]),
        ][:len(python)], fills[0]
        assert len(python) == 3 or depth == "2", fills[0]
        assert not any("_PyEval" in f[0] or f[1].endswith("python3.11") for f in fills[0]), fills[0]


def test_only_the_entry_points_are_exported(folder):
    library = BUILD / "lib/graphkit/libgraphkit_tracer.so"
    symbols = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    names = sorted(line.split()[-1] for line in symbols.stdout.splitlines())
    assert names == ["InitializeInjection", "InitializeInjectionNvtx2", "InitializeInjectionNvtxExtension",
                     "graphkit_annotate_v1"], names
    dynamic = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
    needed = set(re.findall(r"NEEDED.*\[(.*)\]", dynamic))
    assert not [n for n in needed if "cuda" in n or "cupti" in n or "stdc++" in n], needed


def main():
    global BUILD
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--endurance", action="store_true", help="only the tests of endurance, not all others")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    BUILD = arguments.build.resolve()
    failed = 0
    tests = {name[5:]: test for name, test in globals().items() if name.startswith("test_")}
    for name, test in tests.items():
        if name not in arguments.names if arguments.names else arguments.endurance != (name in ENDURANCE):
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(pathlib.Path(folder))
                print(f"ok      {name.replace('_', ' ')}")
            except Skipped as why:
                print(f"skipped {name.replace('_', ' ')}: {why}")
            except Exception as error:  # noqa: BLE001: every failure is reported, and the rest goes on
                failed += 1
                print(f"FAILED  {name.replace('_', ' ')}: {type(error).__name__}: {error}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
