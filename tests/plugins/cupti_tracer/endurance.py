"""Properties that must hold for long: GRAPHKIT_TEST_ROUNDS makes these tests as many times as long."""

import json
import os
import random
import re
import subprocess
import time

from harness import BUILD, count, fork_join, load_cut_off, processes, sanitized, trace

ROUNDS = int(os.environ.get("GRAPHKIT_TEST_ROUNDS", 1))
KILLS = 4 * ROUNDS          # 200 in long runs (50 rounds)
NODES = 200_000 * ROUNDS    # 10 million


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
