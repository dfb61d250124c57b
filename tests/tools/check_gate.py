"""The gate from end to end: a planted megabyte of deferred memory fails, cut off it is refused, and what is written is
valid for other programs.

usage: check_gate.py GRAPHKIT SARIF_SCHEMA

Exits 77 (skipped) where python3-jsonschema isn't installed.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

from check_places import places, without

try:
    import jsonschema
except ImportError:
    print("skipped: the Python package jsonschema is missing (python3-jsonschema)")
    sys.exit(77)

HEAD = '{"schema":"graphkit-trace","version":1,"device":"soft","records":['
RECORDS = [
    {"type": "process", "pid": 1, "program": "./step"},
    {"type": "thread", "id": 0, "tid": 1},
    {"type": "stream", "id": 0, "handle": "0x1"},
    {"type": "stream", "id": 1, "handle": "0x2"},
    {"type": "event", "id": 0, "handle": "0x3"},
    {"type": "kernel", "id": 0, "name": "_Z5scalePfi"},
    {"type": "pool", "id": 0, "kind": "allocator"},
    {"type": "stack", "id": 0, "frames": [["_Z4stepv", "src/step.cu", 42]]},
    {"type": "graph", "id": 0, "origin": "capture", "name": "step"},
    {"type": "capture_begin", "id": 0, "graph": 0, "stream": 0, "thread": 0, "mode": "global"},
    {"type": "alloc", "id": 0, "address": "0x10000", "size": 1 << 20, "pool": 0, "stream": 0, "graph": 0, "stack": 0},
    {"type": "node", "id": 0, "graph": 0, "kind": "kernel", "stream": 0, "thread": 0, "kernel": 0},
    {"type": "event_record", "stream": 0, "event": 0, "capturing": True},
    {"type": "event_wait", "stream": 1, "event": 0, "capturing": True},
    {"type": "node", "id": 1, "graph": 0, "kind": "kernel", "stream": 1, "thread": 0, "kernel": 0,
     "access": [[0, "r", 0, 1 << 20]]},
    {"type": "edge", "id": 0, "from": 0, "to": 1},
    {"type": "event_record", "stream": 1, "event": 0, "capturing": True},
    {"type": "event_wait", "stream": 0, "event": 0, "capturing": True},
]
FREED = [{"type": "free", "memory": 0, "stream": 0}]
DEFERRED = [{"type": "record_stream", "memory": 0, "stream": 1}, {"type": "free_requested", "memory": 0, "stream": 0}]
LAST = [
    {"type": "node", "id": 2, "graph": 0, "kind": "kernel", "stream": 0, "thread": 0, "kernel": 0},
    {"type": "edge", "id": 1, "from": 1, "to": 2},
    {"type": "capture_end", "capture": 0},
]
COMPLETED = [{"type": "free_completed", "memory": 0}]
DESTROYED = [{"type": "graph_destroyed", "graph": 0}]


def trace(records: list, whole: bool = True) -> str:
    lines = "".join(json.dumps(r, separators=(",", ":")) + ",\n" for r in records)
    return f"{HEAD}\n{lines}" + (f'{{"type":"end","records":{len(records)}}}]}}\n' if whole else "")


class Gate:
    def __init__(self, graphkit: str, folder: pathlib.Path):
        self.graphkit, self.folder, self.problems = graphkit, folder, []

    def check(self, what: str, code: int, *arguments: str) -> str:
        done = subprocess.run([self.graphkit, "check", *arguments], cwd=self.folder, capture_output=True, text=True)
        if done.returncode != code:
            self.problems.append(f"{what}: exit {done.returncode}, expected {code}\n{done.stdout}{done.stderr}")
        return done.stdout


def run(gate: Gate, validator) -> None:
    for name, text in {"good": trace(RECORDS + FREED + LAST + DESTROYED),
                       "bad": trace(RECORDS + DEFERRED + LAST + COMPLETED + DESTROYED),
                       "cut": trace(RECORDS + DEFERRED + LAST, whole=False)}.items():
        (gate.folder / f"{name}.json").write_text(text)
    limit = ("--limit", "max-deferred=0")
    gate.check("nothing deferred", 0, "good.json", *limit)
    sarif = gate.check("a megabyte deferred", 1, "bad.json", *limit, "--format", "sarif")
    gate.check("cut off", 3, "cut.json", *limit)
    refused = gate.check("cut off, as SARIF", 3, "cut.json", *limit, "--format", "sarif")
    for text in (sarif, refused):
        gate.problems += [e.message for e in validator.iter_errors(json.loads(text))]
        gate.problems += [f"{rule} lies nowhere" for rule in without(places(json.loads(text)))]
    rules = {result["ruleId"] for result in json.loads(sarif)["runs"][0]["results"]}
    if "max-deferred" not in rules:
        gate.problems.append(f"the SARIF has no result of max-deferred: {rules}")
    suites = ElementTree.fromstring(gate.check("as JUnit", 1, "bad.json", *limit, "--format", "junit"))
    if suites.get("failures") != "1" or suites.get("errors") != "0":
        gate.problems.append(f"JUnit: {suites.attrib}")
    gate.check("saving a baseline", 0, "good.json", "--save-baseline", "baseline.json")
    gate.check("against it", 0, "good.json", "--baseline", "baseline.json")
    gate.check("grown", 1, "bad.json", "--baseline", "baseline.json", "--allow-increase", "2%")
    gate.check("cut off against it", 3, "cut.json", "--baseline", "baseline.json")
    gate.check("saving what is cut off", 3, "cut.json", "--save-baseline", "none.json")
    if (gate.folder / "none.json").exists():
        gate.problems.append("a baseline was saved of a trace that is cut off")


# Of the workloads of testdata, those that do nothing wrong.
CLEAN = {"big_capture_small", "blocking_calls_fixed", "changed_nodes", "exec_updates_fixed", "fork_join", "host_copies_fixed", "inference_server",
         "threads", "training_step"}


def judge_workloads(gate: Gate, traces: pathlib.Path) -> None:
    for path in sorted(traces.glob("*.json")):
        gate.check(f"the workload {path.stem}", 0 if path.stem in CLEAN else 1, str(path))


def main() -> int:
    graphkit, schema = sys.argv[1:3]
    validator = jsonschema.Draft4Validator(json.loads(pathlib.Path(schema).read_text(encoding="utf-8")))
    with tempfile.TemporaryDirectory() as folder:
        gate = Gate(graphkit, pathlib.Path(folder))
        run(gate, validator)
        judge_workloads(gate, pathlib.Path(schema).resolve().parent.parent / "traces/soft")
    print("\n".join(gate.problems) or "the gate holds")
    return 1 if gate.problems else 0


if __name__ == "__main__":
    sys.exit(main())
