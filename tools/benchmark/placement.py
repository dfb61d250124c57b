#!/usr/bin/env python3
"""Problems of memory placement from CUDA graphs, and the plans of them: docs/benchmark.md.

usage: placement.py table PROBLEM…                  a line for each problem, after checking its plan and its bound
       placement.py check PROBLEM PLAN              checks a plan: a list of offsets, in the order of the problem's blocks
       placement.py make GRAPHKIT FOLDER TRACE…     the problems of traces and snapshots, with graphkit's plans
       placement.py record GRAPHKIT PYTHON FOLDER [NAME…]
                                                    those of the programs in captures.txt, run on the software device
       placement.py time GRAPHKIT FOLDER            plans each problem, keeps the plan where it is better, and writes FOLDER/seconds.txt
       placement.py trace PROBLEM                   the problem as a trace: allocations and frees in a graph, with its edges
       placement.py csv PROBLEM                     as lifetimes (id,lower,upper,size), if they have its order
       placement.py planners FOLDER GRAPHKIT [MINIMALLOC]
                                                    rows of planners, with minimalloc's program at most 10 s a problem
       placement.py reproduce BIN [MINIMALLOC]      all figures of docs/benchmark.md anew, with graphkit and plan_problems in BIN:
                                                    prints them, and which rows differ there, but for seconds (exit code 1)
"""

import contextlib
import csv
import io
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "certificate"))
import check_certificate  # noqa: E402


def reached(problem: dict) -> list[set]:
    """Of each block the blocks that are after it."""
    after = [set() for _ in problem["sizes"]]
    for x, y in reversed(problem["edges"]):  # sorted: what is after y is complete
        after[x] |= {y} | after[y]
    return after


def wrong(problem: dict, offsets: list) -> str:
    """Why a plan isn't one of the problem; empty: it is."""
    sizes, after = problem["sizes"], reached(problem)
    if len(offsets) != len(sizes) or any(type(offset) is not int or offset < 0 for offset in offsets):
        return f"it doesn't have {len(sizes)} offsets"
    for x, y in ((x, y) for y in range(len(sizes)) for x in range(y)):
        if offsets[x] < offsets[y] + sizes[y] and offsets[y] < offsets[x] + sizes[x] and y not in after[x]:
            return f"blocks {x} and {y} share bytes, and neither is over before the other begins"
    return ""


def peak(problem: dict, offsets: list) -> int:
    return max(offset + size for offset, size in zip(offsets, problem["sizes"]))


def width(problem: dict) -> int:
    """The most blocks none of which is before another: of lifetimes those at one time, else as many as there are chains that
    cover all (Dilworth)."""
    rows = lifetimes(problem)
    if rows:
        return max(sum(lower <= time < upper for lower, upper in rows) for time, _ in rows)
    after, follows = reached(problem), {}

    def take(x: int, seen: set) -> bool:
        for y in [y for y in after[x] if y not in follows][:1] or after[x] - seen:
            seen.add(y)
            if y not in follows or take(follows[y], seen):
                follows[y] = x
                return True
        return False

    return len(after) - sum(take(x, set()) for x in range(len(after)))


def largest_first(problem: dict) -> int:
    """The peak of a simple plan: the largest block first, each as low as it can."""
    sizes, after, placed = problem["sizes"], reached(problem), {}
    for x in sorted(range(len(sizes)), key=lambda x: -sizes[x]):
        offset = 0
        for begin, y in sorted((begin, y) for y, begin in placed.items() if x not in after[y] and y not in after[x]):
            if offset + sizes[x] <= begin:
                break
            offset = max(offset, begin + sizes[y])
        placed[x] = offset
    return peak(problem, [placed[x] for x in range(len(sizes))])


def lifetimes(problem: dict) -> list:
    """[lower, upper) of each block such that one is before another if it has ended when the other begins. None if no lifetimes
    have this order: the blocks before one block and those before another must be one a part of the other."""
    after = reached(problem)
    before = [{x for x in range(len(after)) if y in after[x]} for y in range(len(after))]
    steps = sorted({frozenset(blocks) for blocks in before}, key=len)
    if any(not small <= large for small, large in zip(steps, steps[1:])):
        return []
    lower = [steps.index(frozenset(blocks)) for blocks in before]
    return [(lower[x], min((lower[y] for y in after[x]), default=len(steps))) for x in range(len(after))]


def as_trace(problem: dict) -> str:
    """A graph of memory-alloc and memory-free nodes: each free of a block is before the allocations of those after it."""
    records = [{"type": "process", "pid": 0, "program": problem["origin"], "args": []}, {"type": "pool", "id": 0, "kind": "graph"},
               {"type": "graph", "id": 0, "origin": "explicit"}]
    edges, address = [], 1 << 32
    for x, size in enumerate(problem["sizes"]):
        records.append({"type": "alloc", "id": x, "address": hex(address), "size": size, "pool": 0, "graph": 0})
        records += [{"type": "node", "id": 2 * x + end, "graph": 0, "kind": kind, "memory": x}
                    for end, kind in enumerate(("mem_alloc", "mem_free"))]
        edges.append((2 * x, 2 * x + 1))
        address += size
    edges += [(2 * x + 1, 2 * y) for x, y in problem["edges"]]
    records += [{"type": "edge", "id": i, "from": x, "to": y} for i, (x, y) in enumerate(edges)]
    lines = "".join(f"{json.dumps(record, separators=(',', ':'))},\n" for record in records)
    head = '{"schema":"graphkit-trace","version":1,"device":"imported","records":[\n'
    return head + lines + json.dumps({"type": "end", "records": len(records)}, separators=(",", ":")) + "]}\n"


def seconds(folder: pathlib.Path) -> dict:
    """Of the problems there that were timed, as text."""
    file = folder / "seconds.txt"
    return dict(line.split() for line in file.read_text().splitlines() if not line.startswith("#")) if file.exists() else {}


def table(files: list) -> int:
    rows, timed, lines = [], seconds(pathlib.Path(files[0]).parent), 0
    for file in files:
        problem = json.loads(pathlib.Path(file).read_text())
        bound, offsets, after = problem["bound"], problem["plan"], reached(problem)
        why = wrong(problem, offsets)
        if any(y in after[x] for x in bound for y in bound):
            why = why or "blocks of its bound may share bytes"
        if why:
            print(f"{file}: {why}", file=sys.stderr)
            return 1
        lines += bool(lifetimes(problem))
        least, best = sum(problem["sizes"][x] for x in bound), peak(problem, offsets)
        rows.append([pathlib.Path(file).stem, len(offsets), width(problem), least, best, largest_first(problem),
                     problem["reserved"] or "", timed.get(pathlib.Path(file).stem, ""), "" if best == least else f"{best / least:.4f}"])
    print("| problem | blocks | width | bound | plan | largest first | reserved | seconds | plan ÷ bound |")
    print("|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        print("| " + " | ".join(str(value) for value in row) + " |")
    equal = sum(row[3] == row[4] for row in rows)
    print(f"\nproblems: {len(rows)}, blocks: {sum(row[1] for row in rows)}, plans that equal the bound: {equal}, "
          f"with lifetimes: {lines}")
    return 0


def planned(problem: dict, graphkit: str, folder: pathlib.Path) -> dict:
    """With graphkit's plan of the problem as a trace, and its bound."""
    trace, file = folder / "again.json", folder / "again.certificate.json"
    trace.write_text(as_trace(problem))
    subprocess.run([graphkit, "plan", trace, "--certificate", file], capture_output=True, check=True)
    arena, = json.loads(file.read_text())["arenas"]
    offsets = {number: offset for number, offset, _ in arena["blocks"]}
    return {**problem, "plan": [offsets[x] for x in range(len(offsets))], "bound": sorted(arena["heaviest"])}


def problems_of(graphkit: str, trace: pathlib.Path, folder: pathlib.Path):
    """(graph and pool, problem) for each of them with two blocks or more; none of graphs that share memory."""
    plain, file = folder / "plain.json", folder / "certificate.json"
    for old in (plain, file):
        old.unlink(missing_ok=True)
    subprocess.run([graphkit, "import", trace, "-o", plain], capture_output=True)
    if plain.exists():
        subprocess.run([graphkit, "plan", plain, "--sequence", "none", "--certificate", file], capture_output=True)
    if not file.exists():
        return
    of, certificate = check_certificate.Trace(plain.read_bytes()), json.loads(file.read_text())
    for arena in certificate["arenas"]:
        blocks = sorted(block for block in arena["blocks"] if block[2] > 0)
        if len(blocks) < 2:
            continue
        lives = [of.blocks[number] for number, _, _ in blocks]
        after = [{y for y in range(len(lives)) if x != y and check_certificate.before(lives[x], lives[y], True)}
                 for x in range(len(lives))]
        order = sorted(range(len(lives)), key=lambda x: (-len(after[x]), x))  # each before those after it
        place = {x: i for i, x in enumerate(order)}
        edges = sorted([place[x], place[y]] for x in order for y in after[x] if not any(y in after[z] for z in after[x]))
        reserved = sum(s["size"] for s in of.of["segment"] if s["pool"] == arena["pool"])
        numbers = {block[0]: place[i] for i, block in enumerate(blocks)}
        problem = {
            "schema": "graphkit-placement", "version": 1, "origin": str(trace).split("testdata/")[-1], "graph": arena["graph"],
            "pool": arena["pool"], "reserved": reserved, "sizes": [blocks[x][2] for x in order], "edges": edges,
            "plan": [blocks[x][1] for x in order], "bound": sorted(numbers[number] for number in arena["heaviest"])}
        if wrong(problem, problem["plan"]):  # graphkit knows of kernels that wait on some of their paths, and the checker doesn't
            problem = planned(problem, graphkit, folder)
        yield f"{arena['graph']}.{arena['pool']}", problem


def write(file: pathlib.Path, problem: dict):
    lines = [f"{json.dumps(key)}: {json.dumps(value, separators=(',', ':'))}" for key, value in problem.items()]
    file.write_text("{" + ",\n ".join(lines) + "}\n")


class Problems:
    """Writes problems, each order once."""

    def __init__(self, folder: pathlib.Path):
        self.folder, self.seen = folder, set()
        for file in sorted(folder.glob("*.json")):
            self.isnew(json.loads(file.read_text()))

    def isnew(self, problem: dict) -> bool:
        shape = json.dumps([problem["sizes"], problem["edges"]])
        self.seen, old = self.seen | {shape}, self.seen
        return shape not in old

    def add(self, name: str, problem: dict):
        if not wrong(problem, problem["plan"]) and self.isnew(problem):  # else the checker of certificates refuses it
            write(self.folder / f"{name}.json", problem)


def make(graphkit: str, folder: str, traces: list) -> int:
    problems = Problems(pathlib.Path(folder))
    with tempfile.TemporaryDirectory() as scratch:
        for trace in sorted(map(pathlib.Path, traces)):
            name = trace.name.removesuffix(".zst").removesuffix(".json").replace(".pickle", "-history")
            for part, problem in problems_of(graphkit, trace, pathlib.Path(scratch)):
                problems.add(f"{name}.{part}", problem)
    return 0


def captures() -> list:
    """(name, program, its words) of each setting in captures.txt: a program, and a line with its name and words for each."""
    listed, program = [], ""
    for line in pathlib.Path(__file__).with_name("captures.txt").read_text().splitlines():
        if line.endswith(".py"):
            program = line
        elif line and not line.startswith("#"):
            name, *words = line.split()
            listed.append((name, program, words))
    return listed


FRAMEWORKS = {"vllm": "vllm", "sglang": "sglang", "training": "megatron-core", "transformer_engine": "transformer_engine",
              "jax": "jax"}  # the package of the programs in a folder of tests/clients


def versions(python: str, program: str) -> dict:
    """Of PyTorch, and of a framework's program that of the framework. None: they aren't installed there."""
    packages = [FRAMEWORKS[part] for part in pathlib.Path(program).parts if part in FRAMEWORKS]
    ask = "import sys, torch; from importlib.metadata import version; print(torch.__version__, *map(version, sys.argv[1:]))"
    done = subprocess.run([python, "-c", ask, *packages], capture_output=True, text=True)
    return dict(zip(["pytorch", *packages], done.stdout.split()))


def environment(program: pathlib.Path) -> dict:
    """The variables of its line `# environment: NAME=VALUE …`, as tests/clients/run.py sets them."""
    lines = [line for line in program.read_text().splitlines() if line.startswith("# environment: ")]
    return dict(word.split("=", 1) for line in lines for word in line.removeprefix("# environment: ").split())


def record(graphkit: str, python: str, folder: str, names: list) -> int:
    """Adds the problems of captures.txt's programs, or of those with these names. Simulated: the driver is the software device."""
    root, problems = pathlib.Path(__file__).resolve().parents[2], Problems(pathlib.Path(folder))
    for name, program, words in captures():
        if names and name not in names:
            continue
        used = {"settings": " ".join(words), **versions(python, program)}
        if "pytorch" not in used:
            print(f"{name}: skipped, {python} lacks its packages")
            continue
        with tempfile.TemporaryDirectory() as scratch:
            trace = pathlib.Path(scratch) / "trace.json"
            command = [os.path.abspath(graphkit), "trace", "--device", "soft", "-o", trace, "--", python,
                       root / "tools/benchmark/sized.py", root / program, *words]
            done = subprocess.run(command, cwd=scratch, capture_output=True, text=True,
                                  env={**os.environ, **environment(root / program)})
            if done.returncode != 0:
                print(f"{name}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
                return 1
            before = len(problems.seen)
            for source in (trace, *sorted(trace.parent.glob("trace.*.pickle"))):
                kind = "" if source == trace else "-history"
                for part, problem in problems_of(graphkit, source, pathlib.Path(scratch)):
                    problem["origin"] = program
                    head = {key: problem.pop(key) for key in ("schema", "version", "origin")}
                    problems.add(f"{name}{kind}.{part}", {**head, **used, **problem})
            print(f"{name}: {len(problems.seen) - before} new problems", flush=True)
    return 0


def time(graphkit: str, folder: str) -> int:
    """One run of each, with reading the trace."""
    lines = ["# Processor seconds of graphkit plan: placement.py time"]
    for file in sorted(pathlib.Path(folder).glob("*.json")):
        problem = json.loads(file.read_text())
        with tempfile.NamedTemporaryFile("w", suffix=".json") as trace:
            trace.write(as_trace(problem))
            trace.flush()
            begin = resource.getrusage(resource.RUSAGE_CHILDREN)
            plan = subprocess.run([graphkit, "plan", trace.name, "--format", "json"], capture_output=True, check=True).stdout
            end = resource.getrusage(resource.RUSAGE_CHILDREN)
        offsets = [placed["offset"] for placed in json.loads(plan)["placements"]]
        if not wrong(problem, offsets) and peak(problem, offsets) < peak(problem, problem["plan"]):
            write(file, {**problem, "plan": offsets})
        lines.append(f"{file.stem} {end.ru_utime - begin.ru_utime + end.ru_stime - begin.ru_stime:.2f}")
    (pathlib.Path(folder) / "seconds.txt").write_text("\n".join(lines) + "\n")
    return 0


def row(name: str, ratios: list, took: float):
    """`ratios`: of each problem that the planner can read the peak over the bound; 0 without a plan."""
    some = [ratio for ratio in ratios if ratio]
    print(f"| {name} | {len(ratios)} | {sum(ratio == 1 for ratio in ratios)} | {sum(some) / len(some):.4f} | {max(some):.4f} | {took:.2f} |")


def with_graphkit(program: str, table: pathlib.Path, bound: int) -> list:
    done = subprocess.run([program, "plan", table, "--format", "json"], capture_output=True, check=True)
    return [placed["offset"] for placed in json.loads(done.stdout)["placements"]]


def with_minimalloc(program: str, table: pathlib.Path, bound: int) -> list:
    """A plan at the bound; none within the time."""
    output = table.with_name("offsets.csv")
    output.unlink(missing_ok=True)
    subprocess.run([program, f"--capacity={bound}", "--timeout=10s", f"--input={table}", f"--output={output}"], capture_output=True)
    placed = {int(line["id"]): int(line["offset"]) for line in csv.DictReader(output.open())} if output.exists() else {}
    return [placed[x] for x in range(len(placed))]


def planners(folder: str, graphkit: str, minimalloc: str) -> int:
    files = sorted(pathlib.Path(folder).glob("*.json"))
    problems = {file.stem: json.loads(file.read_text()) for file in files}
    bounds = {name: sum(problem["sizes"][x] for x in problem["bound"]) for name, problem in problems.items()}
    ratio = {name: peak(problem, problem["plan"]) / bounds[name] for name, problem in problems.items()}
    print("| planner | problems | plan = bound | mean plan ÷ bound | largest | seconds |\n|---|---|---|---|---|---|")
    row("graphkit", list(ratio.values()), sum(map(float, seconds(pathlib.Path(folder)).values())))
    begin = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    ratios = [largest_first(problem) / bounds[name] for name, problem in problems.items()]
    row("largest first", ratios, resource.getrusage(resource.RUSAGE_SELF).ru_utime - begin)
    others = [("graphkit, of lifetimes", with_graphkit, graphkit), ("minimalloc, given the bound", with_minimalloc, minimalloc)]
    for title, plan, program in others[:1 + bool(minimalloc)]:
        found, took = [], 0.0
        with tempfile.TemporaryDirectory() as scratch:
            table = pathlib.Path(scratch) / "lifetimes.csv"
            for name, problem in problems.items():
                if not lifetimes(problem):
                    continue
                table.write_text(as_csv(problem))
                begin = resource.getrusage(resource.RUSAGE_CHILDREN)
                offsets = plan(program, table, bounds[name])
                end = resource.getrusage(resource.RUSAGE_CHILDREN)
                took += end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime
                if offsets and wrong(problem, offsets):
                    print(f"{name}: {wrong(problem, offsets)}", file=sys.stderr)
                    return 1
                found.append(peak(problem, offsets) / bounds[name] if offsets else 0)
        row(title, found, took)
    return 0


def stacked(problem: dict) -> list:
    """The plan that any other one beats: each block above the one before it."""
    return [sum(problem["sizes"][:x]) for x in range(len(problem["sizes"]))]


def reproduce(programs: str, minimalloc: str) -> int:
    """Nothing is taken from the problems' own plans."""
    root, printed = pathlib.Path(__file__).resolve().parents[2], io.StringIO()
    graphkit, peers = (str(pathlib.Path(programs).absolute() / name) for name in ("graphkit", "plan_problems"))
    with tempfile.TemporaryDirectory() as scratch, contextlib.redirect_stdout(printed):
        for file in (root / "testdata/placement").glob("*.json"):
            problem = json.loads(file.read_text())
            write(pathlib.Path(scratch) / file.name, {**problem, "plan": stacked(problem)})
        time(graphkit, scratch)
        files = sorted(map(str, pathlib.Path(scratch).glob("*.json")))
        if planners(scratch, graphkit, minimalloc) or table(files):
            return 1
        print(subprocess.run([peers, *files], capture_output=True, text=True, check=True).stdout)
    print(printed.getvalue())
    rows = [line.split("|") for line in printed.getvalue().splitlines() if line.startswith("| ")]
    page = {line.split("|")[1]: line.split("|") for line in (root / "docs/benchmark.md").read_text().splitlines() if "|" in line}
    seconds_of = {len(page[" planner "]): -2, len(page[" problem "]): -3}  # which column that is
    other = [row for row in rows if not same(row, page.get(row[1], []), seconds_of[len(row)])]
    for row in other:
        print(f"the page has another row for{row[1]}", file=sys.stderr)
    print(f"{len(rows) - len(other)} of {len(rows)} rows are those of docs/benchmark.md")
    return 1 if other else 0


def same(row: list, other: list, seconds_at: int) -> bool:
    """But for the seconds."""
    return len(row) == len(other) and all(i == seconds_at % len(row) or x == y for i, (x, y) in enumerate(zip(row, other)))


def as_csv(problem: dict) -> str:
    """The blocks as lifetimes, in minimalloc's format."""
    rows = [f"{x},{lower},{upper},{problem['sizes'][x]}\n" for x, (lower, upper) in enumerate(lifetimes(problem))]
    return "id,lower,upper,size\n" + "".join(rows)


def show(word: str, problem: dict) -> int:
    if word == "trace":
        print(as_trace(problem), end="")
        return 0
    if not lifetimes(problem):
        print("no lifetimes have the order of this problem", file=sys.stderr)
        return 1
    print(as_csv(problem), end="")
    return 0


def main() -> int:
    words = sys.argv[1:]
    if words[:1] == ["table"] and len(words) > 1:
        return table(words[1:])
    if words[:1] == ["check"] and len(words) == 3:
        problem, offsets = (json.loads(pathlib.Path(word).read_text()) for word in words[1:])
        why = wrong(problem, offsets)
        print(why or f"peak {peak(problem, offsets)}, bound {sum(problem['sizes'][x] for x in problem['bound'])}")
        return 1 if why else 0
    if words[:1] == ["make"] and len(words) > 3:
        return make(words[1], words[2], words[3:])
    if words[:1] == ["record"] and len(words) > 3:
        return record(words[1], words[2], words[3], words[4:])
    if words[:1] == ["time"] and len(words) == 3:
        return time(words[1], words[2])
    if words[:1] == ["planners"] and len(words) in (3, 4):
        return planners(words[1], words[2], words[3] if len(words) == 4 else "")
    if words[:1] == ["reproduce"] and len(words) in (2, 3):
        return reproduce(words[1], words[2] if len(words) == 3 else "")
    if words[:1] in (["trace"], ["csv"]) and len(words) == 2:
        return show(words[0], json.loads(pathlib.Path(words[1]).read_text()))
    print(__doc__, file=sys.stderr if words[:1] != ["--help"] else sys.stdout)
    return 0 if words[:1] == ["--help"] else 2


if __name__ == "__main__":
    sys.exit(main())
