"""Who may include whom, as in docs/architecture.md. Prints each include that points upwards; exits 1 if any does."""

import pathlib
import re
import sys

FOUNDATION = "libgraphkit"
IO = {f"libgraphkit/io/{part}" for part in ("bytes", "record", "trace", "pickle", "files", "import", "merge")}
# Floors of facts, from the lowest, and what stands on them.
FLOORS = [f"libgraphkit/analysis/{part}" for part in ("names", "order", "memory", "launches")]
ANALYSIS = {*FLOORS, "libgraphkit/analysis/checks", "libgraphkit/analysis/explain", "libgraphkit/analysis"}
ALL = IO | ANALYSIS | {"libgraphkit", "libgraphkit/model", "libgraphkit/generate", "libgraphkit/alloc",
                       "libgraphkit/replay", "libgraphkit/schedule", "libgraphkit/compare", "libgraphkit/render"}
MAY_INCLUDE = {
    "libgraphkit": set(),
    "libgraphkit/model": {FOUNDATION},
    "libgraphkit/generate": {FOUNDATION, "libgraphkit/model"},
    "libgraphkit/io/bytes": {FOUNDATION, "libgraphkit/model"},
    "libgraphkit/io/record": {FOUNDATION, "libgraphkit/model"},
    "libgraphkit/io/trace": {FOUNDATION, "libgraphkit/model", "libgraphkit/io/bytes", "libgraphkit/io/record"},
    "libgraphkit/io/pickle": {FOUNDATION},
    "libgraphkit/io/files": {FOUNDATION, "libgraphkit/model", "libgraphkit/io/bytes"},
    "libgraphkit/io/import": {FOUNDATION, "libgraphkit/model", "libgraphkit/io/bytes", "libgraphkit/io/files",
                              "libgraphkit/io/pickle", "libgraphkit/io/trace"},
    "libgraphkit/io/merge": {FOUNDATION, "libgraphkit/model", "libgraphkit/io/import", "libgraphkit/io/record",
                             "libgraphkit/io/trace"},
    **{floor: {FOUNDATION, "libgraphkit/model", *FLOORS[:i]} for i, floor in enumerate(FLOORS)},
    "libgraphkit/analysis/checks": {FOUNDATION, "libgraphkit/model", *FLOORS},
    "libgraphkit/analysis/explain": {FOUNDATION, "libgraphkit/model", *FLOORS},
    "libgraphkit/analysis": {FOUNDATION, "libgraphkit/model"} | ANALYSIS,
    "libgraphkit/alloc": {FOUNDATION, "libgraphkit/model"} | ANALYSIS,
    "libgraphkit/replay": {FOUNDATION, "libgraphkit/model", "libgraphkit/alloc"} | ANALYSIS,
    "libgraphkit/schedule": {FOUNDATION, "libgraphkit/model", "libgraphkit/alloc"} | ANALYSIS,
    "libgraphkit/compare": {FOUNDATION, "libgraphkit/model", "libgraphkit/alloc"} | ANALYSIS,
    "libgraphkit/render": ALL - IO - {"libgraphkit/generate"},
    "tools/graphkit": ALL,
    "tools/trace_schema": {FOUNDATION, "libgraphkit/model", "libgraphkit/io/record", "libgraphkit/io/trace"},
    "plugins/cupti_tracer": {FOUNDATION, "libgraphkit/model", "libgraphkit/io/record"},
    "plugins/soft_cuda": set(),
    "plugins/cuda_exec": {FOUNDATION, "libgraphkit/model"},
    "plugins/torch_allocator": {FOUNDATION, "libgraphkit/model", "libgraphkit/io/bytes", "libgraphkit/io/files",
                                "libgraphkit/alloc"} | ANALYSIS,
    "plugins/python": ALL - {"libgraphkit/compare"},
}
# All facts in one type: of the highest floor, and where everyone looks for it.
HOMES = {"libgraphkit/analysis/facts.h": FLOORS[-1], "libgraphkit/analysis/facts.cpp": FLOORS[-1]}
# Files with a narrower rule than their folder's.
NARROWER = {
    "libgraphkit/io/record/record_writer.h": set(),
}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def folder_of(path: str) -> str:
    """The longest folder of the table that holds the path."""
    if path in HOMES:
        return HOMES[path]
    hits = [f for f in MAY_INCLUDE if path.startswith(f + "/")]
    return max(hits, key=len) if hits else ""


def violations(root: pathlib.Path):
    for folder in MAY_INCLUDE:
        for file in sorted(p for p in (root / folder).rglob("*") if p.suffix in {".h", ".cpp", ".cu", ".c", ".inc"}):
            name = file.relative_to(root).as_posix()
            home = folder_of(name)
            if home != folder and HOMES.get(name) != home:
                continue
            for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
                found = INCLUDE.match(line)
                target = found and folder_of(found.group(1))
                if not target or target == home:
                    continue
                allowed = NARROWER.get(name, MAY_INCLUDE[home])
                if target not in allowed:
                    yield f"{name}:{number}: {home} may not include {found.group(1)}"


def main() -> int:
    bad = list(violations(pathlib.Path(sys.argv[1])))
    print("\n".join(bad) if bad else "layering: every include points downwards")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
