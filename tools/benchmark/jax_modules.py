#!/usr/bin/env python3
"""Problems of memory placement from JAX's programs: the temporaries of each compiled module, which its graph's kernels use.

usage: jax_modules.py GRAPHKIT PYTHON FOLDER NAME PROGRAM [WORD…]     WORD: as sized.py takes them

JAX takes memory from the driver in pieces that a trace has; which bytes an array has, XLA decides when it compiles. So the
program runs on the software device with --xla_dump_to: XLA writes which values share its temporary memory, at which offsets
(*-buffer-assignment.txt), and from which instruction to which each of them is needed, both included (*-live-range.txt). Values
that XLA itself lets share bytes although both are needed at one instruction are one block: the later one is written in place.
`reserved` is what XLA takes for all of them.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import placement  # noqa: E402

ALLOCATION = re.compile(r"allocation \d+: size (\d+), preallocated-temp:\n((?: value: .*\n?)*)")
VALUE = re.compile(r" value: <\d+ (\S+) @\d+> \(size=(\d+),offset=(\d+)\)")
RANGE = re.compile(r"^    (\S+?)(\{[\d,]*\}):(\d+)-(\d+)$", re.MULTILINE)


def values(text: str, ranges: dict) -> list:
    """[first, last, offset, size] of each value of a temporary allocation, both instructions included."""
    found = []
    for name, size, offset in VALUE.findall(text):
        first, last = ranges.get(name) or ranges[name + "{}"]
        found.append([first, last, int(offset), int(size)])
    return sorted(found)


def in_place(rows: list) -> list:
    """With those that share bytes at one time as one."""
    blocks = []
    for row in rows:
        for old in blocks:
            if row[0] <= old[1] and row[2] < old[2] + old[3] and old[2] < row[2] + row[3]:
                end = max(old[2] + old[3], row[2] + row[3])
                old[1], old[2] = max(old[1], row[1]), min(old[2], row[2])
                old[3] = end - old[2]
                break
        else:
            blocks.append(list(row))
    return blocks


def problem_of(blocks: list, graphkit: str, scratch: pathlib.Path) -> dict:
    """With graphkit's plan of it."""
    after = [{y for y, other in enumerate(blocks) if other[0] > block[1]} for block in blocks]
    edges = sorted([x, y] for x, ys in enumerate(after) for y in ys if not any(y in after[z] for z in ys))
    return placement.planned({"origin": "jax", "sizes": [-(-size // 512) * 512 for *_, size in blocks], "edges": edges},
                             graphkit, scratch)


def modules(dump: pathlib.Path):
    """(name, bytes of XLA's temporary allocation, values) of each module that has some."""
    for file in sorted(dump.glob("*-buffer-assignment.txt")):
        text = pathlib.Path(str(file).replace("-buffer-assignment", "-live-range")).read_text()
        ranges = {name + index: (int(first), int(last)) for name, index, first, last in RANGE.findall(text)}
        for size, listed in ALLOCATION.findall(file.read_text() + "\n"):
            yield file.name.split(".")[1], int(size), values(listed, ranges)


def main() -> int:
    if len(sys.argv) < 6:
        print(__doc__, file=sys.stderr)
        return 2
    graphkit, python, folder, name, program, *words = sys.argv[1:]
    root, problems = pathlib.Path(__file__).resolve().parents[2], placement.Problems(pathlib.Path(folder))
    version = subprocess.run([python, "-c", "import jax; print(jax.__version__)"], capture_output=True, text=True, check=True)
    with tempfile.TemporaryDirectory() as scratch:
        dump = pathlib.Path(scratch, "dump")
        command = [os.path.abspath(graphkit), "trace", "--device", "soft", "-o", f"{scratch}/program.json", "--", python,
                   root / "tools/benchmark/sized.py", root / program, *words]
        subprocess.run(command, cwd=scratch, check=True, capture_output=True,
                       env={**os.environ, "XLA_FLAGS": f"--xla_dump_to={dump}"})
        for number, (module, reserved, rows) in enumerate(modules(dump)):
            blocks = in_place(rows)
            if len(blocks) < 2:
                continue
            problem = problem_of(blocks, graphkit, pathlib.Path(scratch))
            head = {"schema": "graphkit-placement", "version": 1, "origin": program, "settings": " ".join(words),
                    "jax": version.stdout.strip(), "module": module, "graph": number, "pool": 0, "reserved": reserved}
            problems.add(f"{name}.{number}.0", {**head, **{key: problem[key] for key in ("sizes", "edges", "plan", "bound")}})
            print(f"{name}: {module}, {len(blocks)} blocks, XLA {reserved}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
