"""Helpers for the tests of the tracer in real processes: `graphkit trace`, and reading its output."""

import argparse
import json
import os
import pathlib
import re
import subprocess


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--endurance", action="store_true", help="only the tests of endurance, not all others")
    parser.add_argument("--handles", metavar="PROGRAM", help="only the test of handles, with this program")
    parser.add_argument("names", nargs="*")
    return parser.parse_args()


ARGUMENTS = arguments()
BUILD = ARGUMENTS.build.resolve()


class Skipped(Exception):
    """A test that can't be run here, and why."""


def trace(folder, *words, options=(), env=None, **kwargs):
    """Runs `graphkit trace`; returns its exit code, stdout and stderr. What GRAPHKIT_TEST_PRELOAD names (a sanitizer's
    runtime) is loaded first."""
    command = [BUILD / "bin/graphkit", "trace", "--device", "soft", *options, "--", *map(str, words)]
    preload = os.environ.get("GRAPHKIT_TEST_PRELOAD")
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=1200,
                          env={**os.environ, **({"LD_PRELOAD": preload} if preload else {}), **(env or {})}, **kwargs)
    return done.returncode, done.stdout, done.stderr


def sanitized():
    return re.search(r"^GRAPHKIT_SANITIZE:\w+=.", (BUILD / "CMakeCache.txt").read_text(), re.MULTILINE) is not None


def sanitizer():
    """What has to be loaded first, before any other library; empty: nothing."""
    return os.environ.get("GRAPHKIT_TEST_PRELOAD") or os.environ.get("LD_PRELOAD", "")


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
    """The output of a killed process: whole lines, each a record."""
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
