"""The verdicts of programs of PyTorch on the traces of theirs in testdata/torch-traces, without PyTorch.

    recorded.py GRAPHKIT TESTDATA
"""

import json
import pathlib
import subprocess
import sys
import tempfile

from verdicts import Failed, compare_findings, heading

GRAPHKIT, TESTDATA = sys.argv[1], pathlib.Path(sys.argv[2])
PROGRAMS = pathlib.Path(__file__).resolve().parent / "torch"


def run(*words):
    return subprocess.run([GRAPHKIT, *map(str, words)], capture_output=True, text=True, check=True).stdout


def check_lines(trace, program):
    """Every block that a graph allocates has a line of the program; what a segment lies in isn't a block."""
    with tempfile.TemporaryDirectory() as folder:
        run("import", trace, "-o", f"{folder}/trace.json")
        records = json.loads(pathlib.Path(folder, "trace.json").read_text(encoding="utf-8"))["records"]
    stacks = {record["id"]: record["frames"] for record in records if record["type"] == "stack"}
    backing = {record.get("memory") for record in records if record["type"] == "segment"}
    captured = [record for record in records
                if record["type"] == "alloc" and "graph" in record and record["id"] not in backing]
    if not captured:
        raise Failed("no block was captured")
    for block in captured:
        if not any(file == program.name and line > 0 for _, file, line in stacks.get(block.get("stack"), [])):
            raise Failed(f"block {block['id']} has no line of {program.name}")


def check(trace):
    program = PROGRAMS / (trace.name.split(".")[0] + ".py")
    report = json.loads(run("analyze", "--format", "json", trace))
    if not report["complete"]:
        raise Failed(f"the trace is incomplete: {report['incomplete_because']}")
    compare_findings(program, report)
    check_lines(trace, program)


def main():
    traces = sorted((TESTDATA / "torch-traces").glob("*.json.zst"))
    missing = {program.stem for program in PROGRAMS.glob("*.py") if heading(program, "graphkit")}
    missing -= {trace.name.split(".")[0] for trace in traces}
    failed = [f"{name}: it has no trace; see testdata/torch-traces/README.md" for name in sorted(missing)]
    for trace in traces:
        try:
            check(trace)
        except (Failed, subprocess.CalledProcessError) as error:
            failed.append(f"{trace.name}: {error}")
    print("\n".join(failed) or f"{len(traces)} traces, as expected")
    sys.exit(1 if failed else 0)


main()
