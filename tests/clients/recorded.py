"""The verdicts of programs of PyTorch on what was recorded of them (record.py), without PyTorch.

    recorded.py GRAPHKIT FOLDER FOLDER_OF_PROGRAMS

Each trace is whole, has the findings that its program expects, passes the gate if it has no warning and no error, and a line of the program for every block that a graph allocates;
its replays are verified, none of them below a bound, and its plan fits the bound. Of each snapshot beside it every address and segment is predicted.
"""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

from verdicts import Failed, compare_bounds, compare_coverage, compare_findings, compare_kept, expected_findings, heading, processes, variants

GRAPHKIT, FOLDER, PROGRAMS = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])


def run(*words, code=0):
    done = subprocess.run([GRAPHKIT, *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode != code:
        raise Failed(f"graphkit {words[0]} ended with {done.returncode}, not {code}: {(done.stdout + done.stderr).strip()[-300:]}")
    return done.stdout


def check_trace(trace, program, fixed):
    report = json.loads(run("analyze", "--format", "json", trace))
    if not report["complete"]:
        raise Failed(f"the trace is incomplete: {report['incomplete_because']}")
    compare_findings(program, report, fixed)
    compare_kept(program, report, fixed)
    fails = any(match["severity"] != "note" for match in expected_findings(program, fixed) or [])
    run("check", trace, code=1 if fails else 0)
    if heading(program, "coverage"):
        compare_coverage(program, json.loads(run("analyze", "--coverage", "--format", "json", trace))["coverage"], fixed)
    joins = report["joins"]
    if joins["captured_blocks"] == 0:
        raise Failed("no block was captured")
    if joins["without_stream"] + joins["without_stack"] + joins["library_only"] > 0:
        raise Failed(f"blocks have no stream, or no line of {program.name}: {joins}")
    compare_bounds(report, json.loads(run("replay", "--verify", "--format", "json", trace)))
    plan = json.loads(run("plan", "--format", "json", trace))
    if plan["peak_bytes"] < plan["lower_bound_bytes"]:
        raise Failed(f"a plan of {plan['peak_bytes']} B lies under its bound of {plan['lower_bound_bytes']} B")


def check_snapshot(snapshot):
    judged = json.loads(run("replay", snapshot, "--against-recorded", "--format", "json"))
    if not judged["devices"]:
        raise Failed("the snapshot has no device")


def check(trace):
    name = trace.name.removesuffix(".json.zst")
    program = PROGRAMS / (name.removesuffix(".fixed") + ".py")
    try:
        check_trace(trace, program, name.endswith(".fixed"))
        snapshot = trace.with_name(f"{name}.pickle.zst")
        if snapshot.exists():
            check_snapshot(snapshot)
    except Failed as error:
        return f"{trace.name}: {error}"
    return None


def missing_traces():
    for program in sorted(PROGRAMS.glob("*.py")):
        if expected_findings(program) is None or processes(program):  # of several processes: not recorded
            continue
        for fixed in variants(program):
            name = program.stem + (".fixed" if fixed else "")
            if not (FOLDER / f"{name}.json.zst").exists():
                yield f"{name}: it has no trace; see {FOLDER.name}/README.md"


def main():
    traces = sorted(FOLDER.glob("*.json.zst"))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
        failed = [*missing_traces(), *filter(None, threads.map(check, traces))]
    print("\n".join(failed) or f"{len(traces)} traces, as expected")
    sys.exit(1 if failed else 0)


main()
