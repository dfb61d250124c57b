"""graphkit's allocator under programs of frameworks, beside PyTorch's own, on the software device.

    peaks.py --build FOLDER --python PYTHON --name NAME FOLDER_OF_PROGRAMS [PROGRAM...]

Each program runs under PyTorch's allocator, then traced under graphkit's. It passes when it runs to its end, its peak of reserved
memory is at most PyTorch's, of each rank, and each placement in its graphs is safe: verified, and executed with canaries. Lines
at its begin are those of run.py, and `# refused: TEXT`: PyTorch itself ends the program under an allocator that isn't its own,
with an error that contains TEXT; such a program counts as skipped. Ends with the numbers. Where PYTHON isn't there, all of it is
skipped.
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from verdicts import Failed, heading, headings, started

PARSER = argparse.ArgumentParser()
PARSER.add_argument("--build", type=pathlib.Path, required=True)
PARSER.add_argument("--python", required=True)
PARSER.add_argument("--name", required=True)
PARSER.add_argument("folder", type=pathlib.Path)
PARSER.add_argument("programs", nargs="*")
OPTIONS = PARSER.parse_args()
BUILD = OPTIONS.build.resolve()
GRAPHKIT, LIBRARIES = BUILD / "bin/graphkit", BUILD / "lib/graphkit"
HERE = pathlib.Path(__file__).resolve().parent
LIMIT_S = 900


def run(folder, words, **variables):
    return subprocess.run(list(map(str, words)), cwd=folder, capture_output=True, text=True, timeout=LIMIT_S, check=False,
                          env={**os.environ, **variables})


def last_line(done):
    said = [line for line in (done.stderr or done.stdout).strip().splitlines() if not line.startswith("graphkit: ")]
    return f"{(said or [''])[-1][:300]}"


def peaks(folder, kind):
    """The peak of each rank, by its number ("" without ranks)."""
    reports = sorted(folder.glob(f"{kind}.peak*"))
    return {report.suffix.removeprefix(".peak"): json.loads(report.read_text(encoding="utf-8"))["peak"] for report in reports}


def start(folder, kind, program, traced):
    soft = LIBRARIES / "soft_cuda"
    variables = {"GRAPHKIT_TORCH_ALLOCATOR": str(LIBRARIES / "libgraphkit_torch_allocator.so")}
    variables |= dict(word.split("=", 1) for word in heading(program, "environment") or [])
    command = started(OPTIONS.python, program, HERE / "allocator/under.py", kind, folder / f"{kind}.peak")
    if traced:
        command = [GRAPHKIT, "trace", "--device", "soft", *(heading(program, "options") or []), "-o", "trace.json", "--", *command]
    else:
        variables |= {"LD_LIBRARY_PATH": str(soft), "LD_AUDIT": str(soft / "libgraphkit_soft_audit.so")}
    return run(folder, command, **variables)


def check_placements(folder):
    """Of each trace that has blocks in graphs: how many graphs."""
    graphs = 0
    for trace in sorted(folder.glob("trace*.json")):
        analysis = run(folder, [GRAPHKIT, "analyze", "--format", "json", trace])
        if not analysis.stdout:
            raise Failed(f"analyze: {last_line(analysis)}")
        count = sum(bool(graph["blocks"]) for graph in json.loads(analysis.stdout)["graphs"])
        if count:
            done = run(folder, [GRAPHKIT, "replay", trace, "--allocator", "recorded", "--execute", "soft", "--orders", 3])
            if done.returncode not in (0, 3):
                raise Failed(f"replay: {last_line(done)}")
        graphs += count
    return graphs


def mib(count):
    return f"{count / (1 << 20):.1f} MiB"


def check(program, folder):
    """Whether it passed or is skipped, and the figures or the reason."""
    done = start(folder, "pytorch", program, traced=False)
    own = peaks(folder, "pytorch")
    if done.returncode or not own:
        raise Failed(f"under PyTorch's allocator it ended with {done.returncode}: {last_line(done)}")
    done = start(folder, "graphkit", program, traced=True)
    refused = headings(program, "refused")
    if refused:
        if done.returncode == 0 or refused[0] not in done.stderr:
            raise Failed(f"PyTorch should refuse it with '{refused[0]}'; it ended with {done.returncode}: {last_line(done)}")
        return "skipped", f"refused by PyTorch: {refused[0]}"
    if done.returncode:
        raise Failed(f"ended with {done.returncode}: {last_line(done)}")
    found = peaks(folder, "graphkit")
    told = ", ".join(f"{mib(found.get(rank, 0))} of {mib(peak)}" for rank, peak in own.items())
    if found.keys() != own.keys() or any(found[rank] > peak for rank, peak in own.items()):
        raise Failed(f"a peak above PyTorch's: {told}")
    return "passed", f"{told}; {check_placements(folder)} graphs with blocks"


def main():
    programs = [program for program in sorted(OPTIONS.folder.glob("*.py"))
                if not OPTIONS.programs or program.stem in OPTIONS.programs]
    if not pathlib.Path(OPTIONS.python).exists():
        print(f"skipped: {OPTIONS.name} isn't installed: tools/test.sh --clients frameworks installs it")
        print(f"{OPTIONS.name}: 0 passed, 0 failed, {len(programs)} skipped")
        return
    count = collections.Counter()
    for program in programs:
        with tempfile.TemporaryDirectory() as folder:
            try:
                word, told = check(program, pathlib.Path(folder))
            except (Failed, subprocess.TimeoutExpired) as error:
                word, told = "FAILED", str(error)
        count[word] += 1
        print(f"{word} {OPTIONS.name} {program.stem}: {told}", flush=True)
    skipped = f", {count['skipped']} skipped" if count["skipped"] else ""
    print(f"{OPTIONS.name}: {count['passed']} passed, {count['FAILED']} failed{skipped}")
    sys.exit(1 if count["FAILED"] else 0)


main()
