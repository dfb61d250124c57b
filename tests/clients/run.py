"""Runs programs of others' libraries under `graphkit trace`, without a GPU.

    run.py --build FOLDER --python PYTHON --name NAME FOLDER_OF_PROGRAMS [PROGRAM...]
    run.py --graphkit BINARY --device cuda …        on a GPU; --keep FOLDER keeps the traces below 2 MB

Each program checks itself. It passes when it ends with 0 under the tracer, its trace is read and analyzed as a whole one, and
the replays of its graphs are verified. Where no finding is expected, there are at most three notes. Lines at its begin say more: `# environment: NAME=VALUE …` sets variables, `# options:
…` are those of `graphkit trace`, `# errors: CHECK …` names the errors that its analysis must have (none, where there is no such
line), `# graphkit: …` its findings, `# coverage: …` and `# eager: …` which of its kernel launches run in graphs, `# kept: …`
what its graphs keep (verdicts.py), `# incomplete: …` how the reason begins why its trace is incomplete, `# traces: N` that N
processes leave a trace each, `# torchrun: N` that torchrun starts it as N ranks, which leave a trace each, `# collectives: N`
how many operations over NCCL's communicators each of them has, `# ranks: …` what is found of the traces together, a finding as
in verdicts.py, `# estimate: SIZES` that all captured blocks have a stream and that the estimate for these sizes is within a
tenth of what the graphs' pool reserved, `# attributed: LINES` that the kernels in the profile `replays.json`, which the program
writes, are attributed to these lines, by their nodes' ids and without them alike, `# content: …` what a sleep would have to
keep. A program that knows the argument `fixed` is run again with it. `# not: NAME …` names where a program can't run, which is
printed. A line `tests: …` of the program is printed; lines `paused: …` say what it gave back for a while (compare_paused). Ends
with the numbers. Where PYTHON isn't there, all of it is skipped.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from verdicts import Failed, compare_bounds, compare_content, compare_coverage, compare_findings, compare_kept, compare_paused, compare_ranks, expected_findings, heading, processes, started, variants

PARSER = argparse.ArgumentParser()
PARSER.add_argument("--build", type=pathlib.Path, default="build")
PARSER.add_argument("--graphkit", type=pathlib.Path)
PARSER.add_argument("--device", choices=["soft", "cuda"], default="soft")
PARSER.add_argument("--keep", type=pathlib.Path)
PARSER.add_argument("--python", required=True)
PARSER.add_argument("--name", required=True)
PARSER.add_argument("folder", type=pathlib.Path)
PARSER.add_argument("programs", nargs="*")
OPTIONS = PARSER.parse_args()
GRAPHKIT = (OPTIONS.graphkit or OPTIONS.build / "bin/graphkit").resolve()
LIMIT_S = 900
KEPT_BYTES = 2_000_000
MOST_NOTES = 3


def run(folder, words, code=0, **variables):
    done = subprocess.run(list(map(str, words)), cwd=folder, capture_output=True, text=True, timeout=LIMIT_S,
                          env={**os.environ, **variables})
    if done.returncode != code:
        said = (done.stderr or done.stdout).strip().splitlines()
        told = [line for line in said if not line.startswith("graphkit: ")] or said or [""]
        raise Failed(f"{words[1]} ended with {done.returncode}: {told[-1][:300]}")
    return done.stdout


def exit_code(program):
    """Of commands that judge the program's trace."""
    return 3 if heading(program, "incomplete") else 0


def analyzed(trace, folder, program, fixed):
    wanted = " ".join(heading(program, "incomplete") or [])
    report = json.loads(run(folder, [GRAPHKIT, "analyze", "--format", "json", trace], code=exit_code(program)))
    because = report["incomplete_because"]
    if wanted and not (len(because) == 1 and because[0].startswith(wanted)):
        raise Failed(f"the trace should be incomplete because {wanted}: {because}")
    if not wanted and not report["complete"]:
        raise Failed(f"the trace is incomplete: {because}")
    if expected_findings(program) is not None:
        compare_findings(program, report, fixed, OPTIONS.name)
        compare_kept(program, report, fixed)
        return report
    expected = heading(program, "errors") or []
    errors = {finding["check"]: finding["message"] for finding in report["findings"] if finding["severity"] == "error"}
    if errors.keys() != set(expected):
        raise Failed(f"its analysis has the errors {errors or 'none'}; expected: {expected or 'none'}")
    return report


def few_notes(program, report, fixed):
    """A program without a fault has at most as many notes."""
    if heading(program, "errors") or (expected_findings(program, fixed) or fixed):
        return
    notes = [f"{finding['check']}: {finding['message']}" for finding in report["findings"] if finding["severity"] == "note"]
    if len(notes) > MOST_NOTES:
        raise Failed(f"{len(notes)} notes, more than {MOST_NOTES}: " + "; ".join(notes))


def verified(trace, folder, program, fixed):
    report = analyzed(trace, folder, program, fixed)
    few_notes(program, report, fixed)
    if any(graph["blocks"] for graph in report["graphs"]):
        replay = run(folder, [GRAPHKIT, "replay", "--verify", "--format", "json", trace], code=exit_code(program))
        compare_bounds(report, json.loads(replay))
        compare_estimate(trace, folder, program, report)
        compare_attribution(trace, folder, program)
    return f"{report['totals']['graphs']} graphs, {report['totals']['nodes']} nodes"


def compare_estimate(trace, folder, program, report):
    """With the segments of the pool that the last graph's blocks lie in."""
    sizes = heading(program, "estimate")
    if not sizes:
        return
    joins = report["joins"]
    if not joins["captured_blocks"] or joins["without_stream"]:
        raise Failed(f"captured blocks without their stream: {joins}")
    estimate = json.loads(run(folder, [GRAPHKIT, "estimate", "--sizes", *sizes, "--format", "json", trace], code=exit_code(program)))
    lines = trace.read_text(encoding="utf-8").splitlines()[1:]
    records = [json.loads(line.removesuffix("]}").rstrip(",")) for line in lines]
    pool = [record["pool"] for record in records if record["type"] == "alloc" and "graph" in record and "segment" in record][-1]
    recorded = sum(record["size"] for record in records if record["type"] == "segment" and record["pool"] == pool)
    estimated = estimate["shared_pool"]["bytes"]
    if abs(estimated - recorded) > recorded / 10:
        raise Failed(f"an estimate of {estimated} B; its pool reserved {recorded} B")


def compare_attribution(trace, folder, program):
    """The profile with its ids, and without them."""
    lines = heading(program, "attributed")
    profile = pathlib.Path(folder, "replays.json")
    rows = {}
    for by in ("id", "name") if lines else ():
        found = json.loads(run(folder, [GRAPHKIT, "attribute", "--format", "json", trace, profile]))
        if found["matched_by"][by] != found["total"] or found["total"]["count"] == 0:
            raise Failed(f"not all are matched by {by}: {found['matched_by']}")
        rows[by] = found["rows"]
        profile.write_text(re.sub(r', "graph id": [0-9]+, "graph node id": [0-9]+', "", profile.read_text(encoding="utf-8")), encoding="utf-8")
    places = {re.sub(rf"^{program.name}(:[0-9]+).*", r"\1", row["line"]) for row in rows.get("id", [])}
    if lines and (rows["id"] != rows["name"] or places != set(lines)):
        raise Failed(f"attributed to {sorted(places)}; expected: {lines}; the same without ids: {rows['id'] == rows['name']}")


def count_collectives(traces, program):
    wanted = heading(program, "collectives")
    for trace in traces if wanted else []:
        lists = re.findall(r'"type":"node".*"collectives":(\[\[.*?\]\])', trace.read_text(encoding="utf-8"))
        found = sum(len(json.loads(text)) for text in lists)
        if found != int(wanted[0]):
            raise Failed(f"{found} operations over communicators in {trace.name}; expected: {wanted[0]}")


def check(program, folder, fixed=False):
    allocator = GRAPHKIT.parents[1] / "lib/graphkit/libgraphkit_torch_allocator.so"
    variables = {"GRAPHKIT_TORCH_ALLOCATOR": str(allocator)}
    variables |= dict(word.split("=", 1) for word in heading(program, "environment") or [])
    trace = pathlib.Path(folder, "trace.json")
    options = heading(program, "options") or []
    words = started(OPTIONS.python, program) + (["fixed"] if fixed else [])
    said = run(folder, [GRAPHKIT, "trace", "--device", OPTIONS.device, *options, "-o", trace, "--", *words], **variables)
    if not trace.exists():
        return "nothing was recorded"
    wanted = processes(program)
    traces = sorted(pathlib.Path(folder).glob("trace*.json")) if wanted else [trace]
    if wanted and len(traces) != wanted:
        raise Failed(f"{len(traces)} traces; expected: {wanted}")
    counted = "; ".join(verified(trace, folder, program, fixed) for trace in traces)
    count_collectives(traces, program)
    together = run(folder, [GRAPHKIT, "analyze", "--format", "json", *traces], code=exit_code(program))
    compare_ranks(json.loads(together), program, fixed)
    if heading(program, "content"):
        compare_content(program, json.loads(run(folder, [GRAPHKIT, "survive", "--format", "json", trace])), fixed)
    paused = [line.removeprefix("paused: ") for line in said.splitlines() if line.startswith("paused: ")]
    if paused:
        compare_paused(paused, json.loads(run(folder, [GRAPHKIT, "survive", "--format", "json", trace])))
    if heading(program, "coverage"):
        coverage = run(folder, [GRAPHKIT, "analyze", "--coverage", "--format", "json", trace])
        compare_coverage(program, json.loads(coverage)["coverage"], fixed)
    tests = [line.removeprefix("tests: ") + "; " for line in said.splitlines() if line.startswith("tests: ")]
    return "".join(tests) + counted


def keep(folder, name):
    for trace in pathlib.Path(folder).glob("trace*.json") if OPTIONS.keep else []:
        if trace.stat().st_size < KEPT_BYTES:
            shutil.copy(trace, OPTIONS.keep / trace.name.replace("trace", name, 1))


def judge(program, fixed):
    """True if it passed; the result is printed."""
    started = time.monotonic()
    name = program.stem + (" fixed" if fixed else "")
    with tempfile.TemporaryDirectory() as folder:
        try:
            told, word = check(program, folder, fixed), "passed"
        except (Failed, subprocess.TimeoutExpired) as error:
            told, word = str(error), "FAILED"
        keep(folder, name.replace(" ", "_"))
    print(f"{word} {OPTIONS.name} {name}: {told} ({time.monotonic() - started:.0f} s)", flush=True)
    return word == "passed"


def main():
    passed = failed = skipped = 0
    programs = sorted(OPTIONS.folder.glob("*.py"))
    if not pathlib.Path(OPTIONS.python).exists():
        print(f"skipped: {OPTIONS.name} isn't installed: tools/test.sh --clients installs it")
        print(f"{OPTIONS.name}: 0 passed, 0 failed, {len(programs)} skipped")
        return
    for program in programs:
        if OPTIONS.programs and program.stem not in OPTIONS.programs:
            continue
        if OPTIONS.name in (heading(program, "not") or []):
            print(f"skipped {OPTIONS.name} {program.stem}: see its first lines", flush=True)
            skipped += 1
            continue
        for fixed in variants(program):
            if judge(program, fixed):
                passed += 1
            else:
                failed += 1
    print(f"{OPTIONS.name}: {passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    sys.exit(1 if failed else 0)


main()
