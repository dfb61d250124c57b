"""Who may include whom, as in docs/architecture.md. Prints each include that points upwards; exits 1 if any does."""

import pathlib
import re
import sys

FOUNDATION = "libgraphkit"
ALL = {"libgraphkit", "libgraphkit/model", "libgraphkit/generate", "libgraphkit/io", "libgraphkit/analysis",
       "libgraphkit/alloc", "libgraphkit/replay", "libgraphkit/schedule", "libgraphkit/compare", "libgraphkit/render"}
MAY_INCLUDE = {
    "libgraphkit": set(),
    "libgraphkit/model": {FOUNDATION},
    "libgraphkit/generate": {FOUNDATION, "libgraphkit/model"},
    "libgraphkit/io": {FOUNDATION, "libgraphkit/model"},
    "libgraphkit/analysis": {FOUNDATION, "libgraphkit/model"},
    "libgraphkit/alloc": {FOUNDATION, "libgraphkit/model", "libgraphkit/analysis"},
    "libgraphkit/replay": {FOUNDATION, "libgraphkit/model", "libgraphkit/analysis", "libgraphkit/alloc"},
    "libgraphkit/schedule": {FOUNDATION, "libgraphkit/model", "libgraphkit/analysis", "libgraphkit/alloc"},
    "libgraphkit/compare": {FOUNDATION, "libgraphkit/model", "libgraphkit/analysis", "libgraphkit/alloc"},
    "libgraphkit/render": ALL - {"libgraphkit/io", "libgraphkit/generate"},
    "tools/graphkit": ALL,
    "plugins/cupti_tracer": {FOUNDATION, "libgraphkit/model", "libgraphkit/io"},
    "plugins/soft_cuda": set(),
    "plugins/cuda_exec": {FOUNDATION, "libgraphkit/model"},
    "plugins/torch_allocator": {FOUNDATION, "libgraphkit/model", "libgraphkit/io", "libgraphkit/analysis",
                                "libgraphkit/alloc"},
    "plugins/python": ALL - {"libgraphkit/compare"},
}
# Files with a narrower rule than their folder's.
NARROWER = {
    "libgraphkit/io/record_writer.h": set(),
}
# Inside the traced process only the records of io are used: how they are written, and read back.
ONLY_FILES = {"plugins/cupti_tracer": {"libgraphkit/io": {
    f"libgraphkit/io/{name}.h" for name in (
        "field_reader", "field_writer", "record_graph", "record_memory", "record_process", "record_stream",
        "record_writer")}}}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def folder_of(path: str) -> str:
    """The longest folder of the table that holds the path."""
    hits = [f for f in MAY_INCLUDE if path.startswith(f + "/")]
    return max(hits, key=len) if hits else ""


def violations(root: pathlib.Path):
    for folder in MAY_INCLUDE:
        for file in sorted(p for p in (root / folder).rglob("*") if p.suffix in {".h", ".cpp", ".cu", ".c", ".inc"}):
            name = file.relative_to(root).as_posix()
            home = folder_of(name)
            if home != folder:
                continue
            for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
                found = INCLUDE.match(line)
                target = found and folder_of(found.group(1))
                if not target or target == home:
                    continue
                allowed = NARROWER.get(name, MAY_INCLUDE[home])
                files = ONLY_FILES.get(home, {}).get(target)
                if target not in allowed or (files and found.group(1) not in files):
                    yield f"{name}:{number}: {home} may not include {found.group(1)}"


def main() -> int:
    bad = list(violations(pathlib.Path(sys.argv[1])))
    print("\n".join(bad) if bad else "layering: every include points downwards")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
