"""Kills a program in the midst of a long capture and looks at what its trace still holds.

    kill_test.py --graphkit BINARY --workloads FOLDER --out FOLDER

fork_join counts on stdout what it has captured. After a kill -9 the trace has to load, to say that it is incomplete,
and to hold all but the last 4 096 records of what the program had counted; `analyze` ends with 3.
"""

import json
import os
import pathlib
import random
import signal
import subprocess
import threading
import time

from graphkit_cli import Failure, run_test

NODES_PER_CAPTURE = 100_000
RECORDS_LOST_AT_MOST = 4096
KILLED = 128 + signal.SIGKILL


def children(pid):
    return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def find_program(pid, name):
    """The process called `name` among pid and its descendants; None: it isn't there."""
    if pathlib.Path(f"/proc/{pid}/comm").read_text().strip() == name[:15]:
        return pid
    return next((found for child in children(pid) if (found := find_program(child, name))), None)


def last_count(lines):
    counts = [int(line.split()[1]) for line in lines if line.startswith("captured ") and line.endswith(" nodes\n")]
    return counts[-1] if counts else 0


def kill_while_capturing(command, cwd, delay):
    """Runs the command, kills the traced program `delay` seconds after its first count: what it had counted."""
    process = subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = []
    first = threading.Event()

    def read():
        for line in process.stdout:
            lines.append(line)
            first.set()
        first.set()

    reader = threading.Thread(target=read)
    reader.start()
    first.wait(timeout=60)
    time.sleep(delay)
    program = find_program(process.pid, "fork_join") if process.poll() is None else None
    if program is None:
        process.kill()
        raise Failure(f"{' '.join(command)}: no fork_join to kill\n{process.stderr.read()[-2000:]}")
    os.kill(program, signal.SIGKILL)
    stderr = process.stderr.read()
    reader.join()
    if process.wait() != KILLED:
        raise Failure(f"graphkit trace ended with {process.returncode}, expected {KILLED}\n{stderr[-2000:]}")
    return last_count(lines)


def nodes_of_captures(trace):
    """How many nodes of captured graphs the file holds, up to its last whole line."""
    captured, nodes = set(), 0
    for line in trace.read_text(encoding="utf-8", errors="replace").split("\n")[1:-1]:
        record = json.loads(line.removesuffix(","))
        if record["type"] == "graph" and record["origin"] == "capture":
            captured.add(record["id"])
        nodes += record["type"] == "node" and record["graph"] in captured
    return nodes


def check(graphkit, workloads):
    seed = int(os.environ.get("GRAPHKIT_TEST_SEED") or time.time_ns() % 1_000_000)
    delay = random.Random(seed).uniform(0.0, 0.7)
    print(f"GRAPHKIT_TEST_SEED={seed}: killed {delay:.3f} s after the first count")
    trace = graphkit.folder / "killed.json"
    trace.unlink(missing_ok=True)
    command = [str(graphkit.binary), "trace", "--device", "soft", "-o", str(trace),
               str(workloads / "fork_join"), "--loop", "1000000", "--nodes", str(NODES_PER_CAPTURE)]
    counted = kill_while_capturing(command, graphkit.folder, delay)
    held = nodes_of_captures(trace)
    print(f"counted {counted} nodes, the trace holds {held}")
    if held < counted - RECORDS_LOST_AT_MOST:
        raise Failure(f"{counted - held} nodes are lost, allowed are {RECORDS_LOST_AT_MOST}")
    report = graphkit.analyze(trace, exit_code=3)
    if report["complete"] or not report["incomplete_because"]:
        raise Failure(f"analyze calls the trace complete: {report['incomplete_because']}")
    if report["totals"]["nodes"] < held:
        raise Failure(f"analyze sees {report['totals']['nodes']} nodes, the file holds {held}")
    trace.unlink()


if __name__ == "__main__":
    run_test(check, "")
