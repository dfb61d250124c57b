#!/usr/bin/env python3
"""Problems of memory placement from CUDA graphs, and the plans of them: docs/benchmark.md.

usage: placement.py table PROBLEM…                  a line for each problem, after checking its plan and its bound
       placement.py check PROBLEM PLAN              checks a plan: a list of offsets, in the order of the problem's blocks
       placement.py make GRAPHKIT FOLDER TRACE…     the problems of traces and snapshots, with graphkit's plans
       placement.py time GRAPHKIT TRACE…            processor seconds of graphkit plan for each trace
"""

import json
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
    """The most blocks none of which is before another: as many as there are chains that cover all (Dilworth)."""
    after, follows = reached(problem), {}

    def take(x: int, seen: set) -> bool:
        for y in after[x] - seen:
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


def table(files: list) -> int:
    rows = []
    for file in files:
        problem = json.loads(pathlib.Path(file).read_text())
        bound, offsets, after = problem["bound"], problem["plan"], reached(problem)
        why = wrong(problem, offsets)
        if any(y in after[x] for x in bound for y in bound):
            why = why or "blocks of its bound may share bytes"
        if why:
            print(f"{file}: {why}", file=sys.stderr)
            return 1
        least, best = sum(problem["sizes"][x] for x in bound), peak(problem, offsets)
        rows.append([pathlib.Path(file).stem, len(offsets), width(problem), least, best, largest_first(problem),
                     problem["reserved"] or "", "" if best == least else f"{best / least:.4f}"])
    print("| problem | blocks | width | bound | plan | largest first | reserved | plan ÷ bound |\n|---|---|---|---|---|---|---|---|")
    for row in rows:
        print("| " + " | ".join(str(value) for value in row) + " |")
    equal = sum(row[3] == row[4] for row in rows)
    print(f"\nproblems: {len(rows)}, blocks: {sum(row[1] for row in rows)}, plans that equal the bound: {equal}")
    return 0


def problems_of(graphkit: str, trace: pathlib.Path, folder: pathlib.Path):
    """(name, problem) for each graph and pool with two blocks or more; none of graphs that share memory."""
    plain, file = folder / "trace.json", folder / "certificate.json"
    for old in (plain, file):
        old.unlink(missing_ok=True)
    subprocess.run([graphkit, "import", trace, "-o", plain], capture_output=True)
    if plain.exists():
        subprocess.run([graphkit, "plan", plain, "--sequence", "none", "--certificate", file], capture_output=True)
    if not file.exists():
        return
    name = trace.name.removesuffix(".zst").removesuffix(".json").replace(".pickle", "-history")
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
        yield f"{name}.{arena['graph']}.{arena['pool']}", {
            "schema": "graphkit-placement", "version": 1, "origin": str(trace).split("testdata/")[-1], "graph": arena["graph"],
            "pool": arena["pool"], "reserved": reserved, "sizes": [blocks[x][2] for x in order], "edges": edges,
            "plan": [blocks[x][1] for x in order], "bound": sorted(numbers[number] for number in arena["heaviest"])}


def make(graphkit: str, folder: str, traces: list) -> int:
    seen = set()
    with tempfile.TemporaryDirectory() as scratch:
        for trace in sorted(map(pathlib.Path, traces)):
            for name, problem in problems_of(graphkit, trace, pathlib.Path(scratch)):
                shape = json.dumps([problem["sizes"], problem["edges"]])
                if wrong(problem, problem["plan"]) or shape in seen:
                    continue  # what the checker of certificates refuses, or has been seen
                seen.add(shape)
                lines = [f"{json.dumps(key)}: {json.dumps(value, separators=(',', ':'))}" for key, value in problem.items()]
                (pathlib.Path(folder) / f"{name}.json").write_text("{" + ",\n ".join(lines) + "}\n")
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
    if words[:1] == ["time"] and len(words) > 2:
        for trace in words[2:]:
            begin = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([words[1], "plan", trace], capture_output=True)
            end = resource.getrusage(resource.RUSAGE_CHILDREN)
            print(f"{end.ru_utime - begin.ru_utime + end.ru_stime - begin.ru_stime:.2f} s  {trace}")
        return 0
    print(__doc__, file=sys.stderr if words[:1] != ["--help"] else sys.stdout)
    return 0 if words[:1] == ["--help"] else 2


if __name__ == "__main__":
    sys.exit(main())
